import * as z from 'zod';
import type { LabelledQuery, RecordedServer } from '../../gateway/index.js';
import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { oneLine } from '../../kernel/text.js';

const id = z.string().min(1);
const groups = z.array(z.array(id).min(1)).min(1);

const QueryLine = z
  .looseObject({
    id: id.optional(),
    query: z.string(),
    relevant: z.array(id).optional(),
    groups: groups.optional(),
    anyOf: z.union([groups, z.array(id).min(1)]).optional(),
  })
  .refine((line) => (line.groups ?? line.anyOf ?? line.relevant ?? []).length > 0, {
    path: ['relevant'],
    message: 'must name at least one tool',
  });

/** A tool may come from nowhere in particular: its server is empty then. */
const ToolLine = z.looseObject({ id, server: z.string(), name: id });

const ServerFile = z.looseObject({
  meta: z
    .looseObject({
      serverInfo: z.looseObject({ name: z.string().optional(), title: z.string().optional() }).optional(),
    })
    .optional(),
  tools: z.array(z.looseObject({ name: id })),
});

/** Complaints that a message names, and those that its `problems` hold. */
const NAMED_PROBLEMS = 5;
const LISTED_PROBLEMS = 100;

/** Labelled queries, one JSON object a line (empty lines are skipped). */
export function parseQueries(text: string, file: string): LabelledQuery[] {
  const queries = parseLines(text, file, QueryLine).map(({ line, value }) => ({
    id: value.id ?? String(line),
    query: value.query,
    relevant: value.relevant ?? [],
    ...(value.groups ? { groups: value.groups } : {}),
    ...(value.anyOf ? { anyOf: value.anyOf } : {}),
  }));
  if (queries.length > 0) return queries;
  throw new ToolscoutError('INVALID_REQUEST', `${file} contains no queries.`, {
    suggestion: 'Write one JSON object a line: {"id": "1", "query": "…", "relevant": ["server:tool"]}.',
  });
}

/** Recorded tools, one JSON object `{id, server, name, description, inputSchema}` a line. */
export function parseToolLines(text: string, file: string): RecordedServer[] {
  const places = new Map<string, string>();
  const named = new Map<string, number>();
  const servers = new Map<string, Array<{ id: string; definition: JsonObject }>>();
  for (const { value } of parseLines(text, file, ToolLine)) {
    const { id: toolId, server: name, ...definition } = value;
    // Two sources may list servers of one name, told apart by what stands before `::` in the id. Spaces keep
    // their places apart without adding a word that could be found.
    const origin = `${toolId.includes('::') ? toolId.split('::')[0] : ''}\n${name}`;
    let server = places.get(origin);
    if (server === undefined) {
      const twins = named.get(name) ?? 0;
      named.set(name, twins + 1);
      server = name + ' '.repeat(twins);
    }
    places.set(origin, server);
    const tools = servers.get(server) ?? [];
    servers.set(server, tools);
    tools.push({ id: toolId, definition: definition as JsonObject });
  }
  return [...servers].map(([server, tools]) => ({ server, tools }));
}

/** The recorded list of one server: `{meta, tools}`. The ids of its tools are `server::tool`. */
export function parseServerFile(text: string, file: string, server: string): RecordedServer {
  const { meta, tools } = check(text, file, ServerFile);
  return {
    server,
    title: meta?.serverInfo?.title,
    name: meta?.serverInfo?.name,
    tools: tools.map((tool) => ({ id: `${server}::${tool.name}`, definition: tool as JsonObject })),
  };
}

function parseLines<T>(text: string, file: string, shape: z.ZodType<T>): Array<{ line: number; value: T }> {
  const problems: Problem[] = [];
  const values: Array<{ line: number; value: T }> = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    try {
      values.push({ line: index + 1, value: check(line, `line ${index + 1}`, shape) });
    } catch (thrown) {
      problems.push({ path: `${file}:${index + 1}`, message: messageOf(thrown) });
    }
  }
  if (problems.length === 0) return values;
  const named = problems.slice(0, NAMED_PROBLEMS).map(({ message }) => message);
  const more = problems.length > named.length ? ` And ${problems.length - named.length} more.` : '';
  const count = problems.length === 1 ? 'a bad line' : `${problems.length} bad lines`;
  throw new ToolscoutError('INVALID_REQUEST', `${file} has ${count}: ${named.join(' ')}${more}`, {
    problems: problems.slice(0, LISTED_PROBLEMS),
  });
}

function check<T>(text: string, where: string, shape: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new ToolscoutError('INVALID_REQUEST', `${where} is not JSON (${oneLine(messageOf(thrown), 120)}).`);
  }
  if (!isObject(value)) throw new ToolscoutError('INVALID_REQUEST', `${where} is not a JSON object.`);
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ToolscoutError('INVALID_REQUEST', `${where}: ${path}: ${oneLine(issue?.message ?? 'is wrong', 200)}.`);
}
