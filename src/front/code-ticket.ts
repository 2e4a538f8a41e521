/** The kind of ticket that signs a browser of this machine in; `toolscout studio` makes it (STUDIO-6). */
export const CODE_TICKET = 'code';

/** How long such a code is good: a browser is opened with it at once. */
export const CODE_LIFETIME_MS = 120_000;

/** The kind of ticket that shows whether a gateway reads the store it was written to; it opens nothing. */
export const PROBE_TICKET = 'probe';

/** A gateway is asked at once. */
export const PROBE_LIFETIME_MS = 10_000;
