import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readCorpus } from './recorded-servers.js';

/** A text of a kind that tools return. `half` B was not used when the prices of `kernel/tokens.ts` were fitted. */
export interface CorpusText {
  readonly kind: string;
  readonly half: 'A' | 'B';
  readonly text: string;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Tools taken of one server, so that no server outweighs the others. */
const TOOLS = 12;
const CHUNK = 4000;

const digestOf = (text: string): Buffer => createHash('sha512').update(text).digest();
/** The split that the prices were fitted with: by server or file. */
const halfOf = (name: string): 'A' | 'B' => (createHash('sha256').update(name).digest()[0]! % 2 === 0 ? 'A' : 'B');

function filesOf(folder: string, extension: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name))
    .sort();
}

function* recorded(): Generator<CorpusText> {
  for (const { id, tools } of readCorpus()) {
    const half = halfOf(id);
    for (const tool of tools.slice(0, TOOLS)) {
      yield { kind: 'JSON', half, text: JSON.stringify(tool) };
      yield { kind: 'JSON, indented', half, text: JSON.stringify(tool, null, 2) };
      if (typeof tool['description'] === 'string') yield { kind: 'prose', half, text: tool['description'] };
    }
  }
}

function* files(): Generator<CorpusText> {
  for (const [kind, folder, extension] of [
    ['Markdown', 'docs', '.md'],
    ['code', 'src', '.ts'],
  ] as const) {
    const names = filesOf(folder, extension);
    for (const name of names) {
      const text = readFileSync(join(ROOT, name), 'utf8');
      for (let at = 0; at < text.length && at < 3 * CHUNK; at += CHUNK) {
        yield { kind, half: halfOf(name), text: text.slice(at, at + CHUNK) };
      }
    }
    for (let at = 0; at < names.length; at += 40) {
      yield { kind: 'file list', half: (at / 40) % 2 === 0 ? 'A' : 'B', text: names.slice(at, at + 40).join('\n') };
    }
  }
}

function* languages(): Generator<CorpusText> {
  const lines = readFileSync(join(ROOT, 'test/fixtures/texts.jsonl'), 'utf8').trimEnd().split('\n');
  for (const line of lines) {
    const { language, half, text } = JSON.parse(line) as { language: string; half: 'A' | 'B'; text: string };
    const isCjk = ['Chinese', 'Japanese', 'Korean'].includes(language);
    // In parts of some fifty tokens, so that there are enough texts for a quantile.
    const length = isCjk ? 75 : 200;
    for (let at = 0; at + length <= text.length; at += length) {
      yield { kind: isCjk ? 'CJK' : 'other languages', half, text: text.slice(at, at + length) };
    }
  }
}

/** Bytes that look random and are the same in every run. */
function bytesOf(seed: string, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at * 64 < length; at++) parts.push(digestOf(`${seed}${at}`));
  return Buffer.concat(parts).subarray(0, length);
}

function* generated(): Generator<CorpusText> {
  for (let at = 0; at < 24; at++) {
    const half = at % 2 === 0 ? 'A' : 'B';
    const bytes = bytesOf(`bytes ${at}`, 400 + 100 * at);
    const hex = bytes.toString('hex');
    yield { kind: 'base64, hex, ids', half, text: bytes.toString('base64') };
    yield { kind: 'base64, hex, ids', half, text: hex };
    const ids = Array.from({ length: 12 }, (_, row) => ({ id: hex.slice(row * 24, row * 24 + 24), size: row * 7919 }));
    yield { kind: 'base64, hex, ids', half, text: JSON.stringify(ids) };
    const log = Array.from(bytes.subarray(0, 30), (byte, row) => {
      const level = ['INFO', 'WARN', 'ERROR'][byte % 3];
      return `2026-11-16 10:${10 + (row % 50)}:${10 + (byte % 50)}.${100 + byte} ${level} [worker-${byte % 8}] request completed path=/api/v1/items/${byte * 311} status=${byte % 7 === 0 ? 500 : 200} ms=${byte * 3}`;
    });
    yield { kind: 'logs, tables', half, text: log.join('\n') };
    const rows = log.map((line, row) => `${row},${line.split(' ').slice(0, 3).join(',')},${(row * 37.5).toFixed(2)}`);
    yield { kind: 'logs, tables', half, text: rows.join('\n') };
  }
}

/** Servers whose results were recorded after the prices had been fitted, and not used for that. */
const FRESH = new Set([
  'mcp-graphql-schema',
  'server-customer-segmentation',
  'mcp-ripgrep',
  'eslint-mcp',
  'server-postgres',
]);

function* fresh(): Generator<CorpusText> {
  const packed = readFileSync(join(ROOT, 'bench/answers/results.jsonl.gz'));
  for (const line of gunzipSync(packed).toString('utf8').trimEnd().split('\n')) {
    const { server, result } = JSON.parse(line) as { server: string; result: { content: Array<{ text?: string }> } };
    if (!FRESH.has(server)) continue;
    for (const { text = '' } of result.content) {
      for (let at = 0; at < text.length && at < 5 * CHUNK; at += CHUNK) {
        yield { kind: 'results', half: 'B', text: text.slice(at, at + CHUNK) };
      }
    }
  }
}

/** Texts of every kind that the estimate of tokens is judged by, in a fixed order. */
export function readTokenCorpus(): CorpusText[] {
  return [...recorded(), ...files(), ...languages(), ...generated(), ...fresh()].filter(
    ({ text }) => text.length >= 30,
  );
}
