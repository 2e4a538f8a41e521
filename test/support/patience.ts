/** For tests that start processes or listen on ports: on a busy machine every start takes seconds. */
export const STARTS_PROCESSES = { timeout: 240_000 };

/** For tests that compute for a good part of a second where nothing else runs: on a busy machine that takes ten times as long. */
export const COMPUTES_LONG = { timeout: 240_000 };
