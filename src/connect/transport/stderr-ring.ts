/** The last bytes a child wrote to stderr. */
export interface StderrRing {
  append(chunk: string | Uint8Array): void;
  /** What is kept, as text; a character cut in half at the start is left out. */
  text(): string;
}

/** A ring that keeps the last `capacity` bytes; nothing is allocated before the first byte. */
export function createStderrRing(capacity: number): StderrRing {
  let bytes: Buffer | undefined;
  let written = 0;

  return {
    append(chunk) {
      const incoming = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (incoming.length === 0) return;
      bytes ??= Buffer.alloc(capacity);
      const kept = incoming.subarray(Math.max(0, incoming.length - capacity));
      const start = (written + incoming.length - kept.length) % capacity;
      const first = Math.min(kept.length, capacity - start);
      bytes.set(kept.subarray(0, first), start);
      bytes.set(kept.subarray(first), 0);
      written += incoming.length;
    },
    text() {
      if (!bytes) return '';
      if (written <= capacity) return bytes.toString('utf8', 0, written);
      const start = written % capacity;
      const ordered = Buffer.concat([bytes.subarray(start), bytes.subarray(0, start)]);
      let begin = 0;
      // 10xxxxxx continues a character whose first byte was overwritten.
      while (begin < 3 && (ordered[begin]! & 0xc0) === 0x80) begin++;
      return ordered.toString('utf8', begin);
    },
  };
}
