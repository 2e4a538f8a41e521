const NEWLINE = 0x0a;
/** Some programs write it before their first line. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Cuts a stream into lines without decoding them; each line keeps its end. */
export interface ByteLines {
  /** Takes bytes; `false` when a line is longer than allowed, after which no more may be given. */
  take(chunk: Buffer): boolean;
}

/** A reader that hands every whole line to `onLine`, as the bytes that came. */
export function createByteLines(limit: number, onLine: (line: Buffer) => void): ByteLines {
  let held: Buffer[] = [];
  let size = 0;
  return {
    take(chunk) {
      let from = 0;
      for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
        const part = chunk.subarray(from, to + 1);
        from = to + 1;
        if (size + part.length > limit) return false;
        const line = size === 0 ? part : Buffer.concat([...held, part]);
        held = [];
        size = 0;
        onLine(BYTE_ORDER_MARK.equals(line.subarray(0, 3)) ? line.subarray(3) : line);
      }
      if (from === chunk.length) return true;
      held.push(chunk.subarray(from));
      size += chunk.length - from;
      return size <= limit;
    },
  };
}
