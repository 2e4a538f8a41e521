/** The kind of ticket that signs a browser of this machine in; `toolscout studio` makes it (STUDIO-6). */
export const CODE_TICKET = 'code';

/** How long such a code is good: a browser is opened with it at once. */
export const CODE_LIFETIME_MS = 120_000;
