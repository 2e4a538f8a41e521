import { encode } from 'gpt-tokenizer';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOfflineGateway, readRecordedServers } from '../../../test/support/offline-gateway.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { compileRules, normalizeTool, signatureOf } from '../../normalize/index.js';
import { signatureCost } from './answer-search.js';

const recorded = readRecordedServers(join(import.meta.dirname, '../../../test/fixtures/catalog'));

describe('signatures in an answer', COMPUTES_LONG, () => {
  it('META-9 the estimate of tokens is not below the true count on real signatures, and not far above', () => {
    const rules = compileRules([]);
    const signatures = recorded.flatMap(({ id, tools }) =>
      tools.map((item) => signatureOf(normalizeTool({ id, tags: [] }, item, rules))),
    );
    let estimated = 0;
    let real = 0;
    for (const signature of signatures) {
      const count = encode(signature).length;
      expect(signatureCost(signature), signature).toBeGreaterThanOrEqual(count * 0.9);
      estimated += signatureCost(signature);
      real += count;
    }
    expect(estimated).toBeGreaterThanOrEqual(real);
    expect(estimated).toBeLessThan(real * 2);
  });

  it('META-9 FIND-1 signatures keep to the budget of the caller, best hits first, and the hits stay', async () => {
    const { gateway } = await openOfflineGateway(recorded);
    const all = await gateway.search('create a file', { includeSchema: true, schemaTokens: 20_000 });
    expect(all.hits).toHaveLength(10);
    expect(all.hits.every(({ signature }) => signature !== undefined)).toBe(true);
    for (const schemaTokens of [1, 30, 100, 300]) {
      const { hits } = await gateway.search('create a file', { includeSchema: true, schemaTokens });
      expect(hits).toHaveLength(10);
      const used = hits.reduce((sum, { signature = '' }) => sum + signatureCost(signature), 0);
      expect(used).toBeLessThanOrEqual(schemaTokens);
    }
    const none = await gateway.search('create a file', { schemaTokens: 1000 });
    expect(none.hits.some(({ signature }) => signature !== undefined)).toBe(false);
  });
});
