import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/kernel/json.js';
import type { RecordedServer } from './offline-gateway.js';

const CORPUS = fileURLToPath(new URL('../fixtures/recorded-servers.jsonl.gz', import.meta.url));

/** The recorded lists of 110 public servers, in order of their ids: each text is one JSON object `{id, meta, tools}`. */
export function readCorpusTexts(): Array<{ readonly id: string; readonly text: string }> {
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').trimEnd().split('\n');
  return lines.map((text) => ({ id: (JSON.parse(text) as { id: string }).id, text }));
}

/** The same servers with their tools. */
export function readCorpus(): RecordedServer[] {
  return readCorpusTexts().map(({ id, text }) => ({ id, tools: (JSON.parse(text) as { tools: JsonObject[] }).tools }));
}
