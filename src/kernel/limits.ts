/**
 * Bounds on what a server or a caller may make us hold. The largest value seen on 110 real servers
 * stands behind each, so that all of them pass and a hostile one does not.
 */
export const LIMITS = {
  /** Nesting of a schema or of arguments (seen: 24). */
  depth: 64,
  /** Bytes of one tool's definition (seen: 77 kB). */
  toolBytes: 256 * 1024,
  /** Bytes of one server's whole list (seen: 1.03 MB). */
  listBytes: 16 * 1024 * 1024,
  /** Tools of one server (seen: 401). */
  toolsPerServer: 10_000,
  /** Pages of one list. */
  pages: 100,
  /** Bytes of one line of a stdio server. */
  lineBytes: 32 * 1024 * 1024,
  /** Values of one JSON text (see `json-bounds.ts`). */
  jsonValues: 1_000_000,
  /** Nesting of one JSON text. */
  jsonDepth: 10_000,
  /** Bytes of a search query. */
  queryBytes: 2048,
  /** Bytes kept of a child's stderr. */
  stderrBytes: 64 * 1024,
  /** Bytes of a request body over HTTP. */
  bodyBytes: 4 * 1024 * 1024,
} as const;
