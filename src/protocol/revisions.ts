/** The revisions of the protocol that begin with a handshake, newest first; a test holds them to those of the SDK. */
export const HANDSHAKE_REVISIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** The revision in which every request stands for itself. */
export const LATEST_REVISION = '2026-07-28';
