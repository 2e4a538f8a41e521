import type { Provenance } from '../../model/tool.js';

/** The strategies that find tools without a handshake, the most reliable first (DISC-6). */
export const STRATEGIES = [
  'plain-list',
  'functions',
  'tools',
  'json-lines',
  'pairs',
  'identifiers',
  'auto-approved',
  'predicted',
] as const;

/** See {@link STRATEGIES}. */
export type Strategy = (typeof STRATEGIES)[number];

/** Provenance and confidence of the tools that each strategy finds. */
export const STRATEGY_PROVENANCE: Readonly<
  Record<Strategy, { readonly provenance: Provenance; readonly confidence: number }>
> = {
  'plain-list': { provenance: 'protocol', confidence: 1 },
  functions: { provenance: 'parsed', confidence: 0.9 },
  tools: { provenance: 'parsed', confidence: 0.9 },
  'json-lines': { provenance: 'parsed', confidence: 0.8 },
  pairs: { provenance: 'parsed', confidence: 0.6 },
  identifiers: { provenance: 'guessed', confidence: 0.3 },
  'auto-approved': { provenance: 'declared', confidence: 0.5 },
  predicted: { provenance: 'predicted', confidence: 0.2 },
};
