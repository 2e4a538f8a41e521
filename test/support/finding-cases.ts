import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/kernel/json.js';
import { readCorpusTexts } from './recorded-servers.js';

/** Which half of the labelled set: checks are written and tuned on `dev`, and judged on `held-out`. */
export type Half = 'dev' | 'held-out';

/** What a definition is of. */
export type Subject = 'tool' | 'prompt' | 'resource' | 'template' | 'instructions';

/** A definition that was written to steer a model. */
export interface MaliciousCase {
  readonly kind: string;
  /** Whose wording it is. */
  readonly author: string;
  readonly language: string;
  readonly about: Subject;
  readonly definition: JsonObject;
}

/** A definition that a real server sent. */
export interface RealCase {
  readonly server: string;
  readonly name: string;
  readonly about: Subject;
  readonly definition: JsonObject;
}

/** The malicious definitions of one half. */
export function readMalicious(half: Half): MaliciousCase[] {
  const path = fileURLToPath(new URL(`../fixtures/findings/malicious-${half}.jsonl`, import.meta.url));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as MaliciousCase);
}

/** The halves of the second labelled set, which are learned from, and the sets that no check and no weight was made from: `panel`, `verdict` and `assize`. */
export type FreshHalf = 'dev' | 'opened' | 'panel' | 'verdict' | 'assize';

function readLines<Case>(name: string): Case[] {
  const path = fileURLToPath(new URL(`../fixtures/findings/${name}.jsonl`, import.meta.url));
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
}

/** One half of the second labelled set, or a set that nothing was made from: malicious definitions, and harmless ones that read like them. */
export function readFresh(half: FreshHalf): {
  readonly malicious: MaliciousCase[];
  readonly benign: Array<Pick<MaliciousCase, 'about' | 'definition'>>;
} {
  if (half !== 'dev' && half !== 'opened')
    return { malicious: readLines(`${half}-malicious`), benign: readLines(`${half}-benign`) };
  return { malicious: readLines(`fresh-malicious-${half}`), benign: readLines(`fresh-benign-${half}`) };
}

/** The half that a recorded server belongs to: all of its definitions stand in the same one. */
function halfOf(server: string): Half {
  return createHash('sha256').update(`server:${server}`).digest()[0]! < 128 ? 'dev' : 'held-out';
}

interface Recorded {
  readonly meta: { readonly instructions?: string; readonly serverInfo: JsonObject };
  readonly tools: readonly JsonObject[];
  readonly prompts?: readonly JsonObject[];
  readonly resources?: readonly JsonObject[];
  readonly resourceTemplates?: readonly JsonObject[];
}

/** Everything that the recorded servers of one half said: tools, prompts, resources, templates, and what they say of themselves. */
export function readReal(half: Half): RealCase[] {
  return readCorpusTexts()
    .filter(({ id }) => halfOf(id) === half)
    .flatMap(({ id: server, text }) => {
      const { meta, ...lists } = JSON.parse(text) as Recorded;
      const from = (about: Subject, list: readonly JsonObject[] | undefined, key: string): RealCase[] =>
        (list ?? []).map((definition) => ({ server, name: String(definition[key]), about, definition }));
      const said: JsonObject = { serverInfo: meta.serverInfo, instructions: meta.instructions ?? '' };
      return [
        ...from('tool', lists.tools, 'name'),
        ...from('prompt', lists.prompts, 'name'),
        ...from('resource', lists.resources, 'uri'),
        ...from('template', lists.resourceTemplates, 'uriTemplate'),
        { server, name: server, about: 'instructions' as const, definition: said },
      ];
    });
}
