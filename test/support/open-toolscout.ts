import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { openGateway, type ToolscoutOptions } from '../../src/app/open-gateway.js';
import type { CallResult } from '../../src/model/call.js';
import type { ConfigInput } from '../../src/model/config.js';
import { createKnowledgeSource } from '../../src/search/index.js';
import { temporaryDirectory, waitUntil } from './fixture.js';

/** A failing server is not asked again, so that a test of a failure is quick. */
const QUICK: ConfigInput = { retryPolicy: { maxRetries: 0, initialDelayMs: 1, maxDelayMs: 10 } };

/** What search knows; reading it for each gateway would take longer than most tests. */
const knowledge = createKnowledgeSource((reason) => {
  throw new Error(reason);
});

/** A whole toolscout in this process, with a state directory of its own; closed after the test. */
export async function openToolscout(
  config: ConfigInput,
  options: Omit<ToolscoutOptions, 'config'> = {},
): Promise<Gateway> {
  const stateDir = options.stateDir ?? (await temporaryDirectory());
  const env = { PATH: process.env['PATH'] };
  const gateway = await openGateway(
    { learnAtStart: false, env, ...options, stateDir, config: { ...QUICK, ...config } },
    knowledge,
  );
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return gateway;
}

/** A file in which a fixture notes its starts (`--start-file`), and what stands in it. */
export async function startCounter(): Promise<{ readonly flag: string; pids(): Promise<number[]> }> {
  const path = join(await temporaryDirectory(), 'starts');
  return {
    flag: `--start-file=${path}`,
    async pids() {
      const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== 'ENOENT') throw thrown;
        return '';
      });
      return text.split('\n').filter(Boolean).map(Number);
    },
  };
}

/** A file that the fixture `slow` makes when its tool `wait` is called (`--call-file`). */
export async function callMark(): Promise<{ readonly flag: string; readonly called: () => Promise<void> }> {
  const path = join(await temporaryDirectory(), 'called');
  return {
    flag: `--call-file=${path}`,
    called: () => waitUntil(() => existsSync(path), { what: 'the call to arrive' }),
  };
}

/** The first text of a result. */
export function textOf(answer: CallResult | JsonObject | undefined): string {
  const result = (answer && 'success' in answer ? answer['result'] : answer) as JsonObject | undefined;
  const [first] = (result?.['content'] ?? []) as Array<{ text?: string }>;
  if (typeof first?.text !== 'string') throw new Error(`There is no text in ${JSON.stringify(answer)}`);
  return first.text;
}
