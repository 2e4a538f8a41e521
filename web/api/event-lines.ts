/** One server-sent event. */
export interface SentEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events out of chunks of text: hand in each chunk, get the events that it completed. */
export function createEventReader(): (chunk: string) => SentEvent[] {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      let event = 'message';
      const data: string[] = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) event = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      }
      return data.length > 0 ? [{ event, data: data.join('\n') }] : [];
    });
  };
}
