/** The checksum in the headers of our files: bytes in groups of four, and the rest one by one. */
export function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let sum = 0x811c9dc5;
  for (let at = 0; at < whole; at += 4) sum = Math.imul(sum ^ view.getInt32(at, true), 0x01000193) ^ (sum >>> 15);
  for (let at = whole; at < bytes.length; at++) sum = Math.imul(sum ^ bytes[at]!, 0x01000193);
  return sum >>> 0;
}
