/** A tool as a host offers it to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  /** The host sends the definition only after a search of its own. */
  readonly deferred: boolean;
  /** The group a host puts the tool into, where the API knows groups. */
  readonly group?: string;
}

/** What a host asks the model, whatever API it speaks. */
export interface Turn {
  /** Everything that is neither a tool nor a result: system prompt and messages. */
  readonly prompt: string;
  readonly tools: readonly OfferedTool[];
  /** What a host says of a group of tools. */
  readonly groups?: readonly string[];
  /** Results of earlier calls, in order. */
  readonly results: ReadonlyArray<{ readonly tool: string; readonly text: string }>;
}

/** What the model answers. */
export type Reply =
  | { readonly kind: 'call'; readonly id: string; readonly tool: OfferedTool; readonly args: object }
  | { readonly kind: 'text'; readonly text: string };

/** The body of an HTTP answer. */
export interface Written {
  readonly type: 'application/json' | 'text/event-stream';
  readonly body: string;
}

/** One model API: how its requests are read and its answers written. */
export interface Dialect {
  readonly name: string;
  matches(path: string): boolean;
  read(body: Json): Turn;
  write(reply: Reply, request: { readonly body: Json; readonly path: string }): Written;
}

/** JSON of a shape that is not known in advance. */
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of four foreign APIs, read field by field.
export type Json = any;

/** Text of whatever stands where a message, a result or a system prompt may stand. */
export function plainText(value: Json): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plainText).join('\n');
  for (const field of ['text', 'content', 'output', 'parts']) {
    if (value[field] !== undefined) return plainText(value[field]);
  }
  return JSON.stringify(value);
}

/** Events of a stream; a name for those APIs that name them. */
export function eventStream(events: ReadonlyArray<{ readonly name?: string; readonly data: Json }>): Written {
  const lines = events.map(({ name, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
  });
  return { type: 'text/event-stream', body: lines.join('') };
}

/** A whole answer. */
export function whole(data: Json): Written {
  return { type: 'application/json', body: JSON.stringify(data) };
}
