// The official conformance suite against the fixture and against toolscout with the fixture behind it; see
// docs/conformance.md. Prints a table and one JSON line; ends with 1 when a run did not pass.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printTable } from '../../bench/support/report.js';
import { readExpectedFailures, toBaseline, type ExpectedFailure } from './expected-failures.js';
import { REQUIREMENTS, runSuite, type Requirement, type SuiteResult } from './suite.js';
import { openClientDoor } from './client-door.js';
import { isUsual, startTarget, TARGETS, type Target } from './targets.js';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const SIMPLE_TEXT = 'This is a simple text response for testing.';
/** Client scenarios all start at once, and wait for each other. */
const CLIENT_TIMEOUT_MS = 120_000;

interface Run {
  readonly target: Target;
  readonly requirement: Requirement;
  readonly result?: SuiteResult;
  /** What is wrong although the suite found nothing, or why it could not be run. */
  readonly problem?: string;
}

function listed<T extends string>(flag: string, given: string[] | undefined, known: readonly T[]): readonly T[] {
  const wanted = given?.flatMap((each) => each.split(','));
  const unknown = wanted?.find((each) => !known.includes(each as T));
  if (unknown !== undefined) throw new Error(`--${flag} ${unknown} is not one of ${known.join(', ')}.`);
  return known.filter((each) => !wanted || wanted.includes(each));
}

/** The suite takes an `isError` result for simple text: it must be the text itself (C1). */
function simpleTextProblem({ scenarios }: SuiteResult): string | undefined {
  const checks = scenarios.find(({ scenario }) => scenario === 'tools-call-simple-text')?.checks;
  const result = checks?.find(({ id }) => id === 'tools-call-simple-text')?.details?.['result'] as
    | { readonly isError?: boolean; readonly content?: ReadonlyArray<{ readonly text?: string }> }
    | undefined;
  if (result?.isError !== true && result?.content?.[0]?.text === SIMPLE_TEXT) return undefined;
  return `tools-call-simple-text did not answer with its text: ${JSON.stringify(result)}`;
}

async function runOne(
  target: Target,
  requirement: Requirement,
  folder: string,
  options: { readonly expected: readonly ExpectedFailure[]; readonly scenario?: string },
): Promise<SuiteResult> {
  const baseline = toBaseline(options.expected, { target, requirement });
  const baselineFile = join(folder, `expected-${target}-${requirement}.yaml`);
  if (baseline !== undefined) await writeFile(baselineFile, baseline);
  const common = [
    ...(options.scenario === undefined
      ? ['--requirements', requirement]
      : ['--scenario', options.scenario, '--spec-version', requirement]),
    ...(baseline === undefined ? [] : ['--expected-failures', baselineFile]),
  ];
  const out = join(folder, `${target}-${requirement}`);
  if (target === 'client') {
    const door = await openClientDoor(folder);
    try {
      const args = ['--command', door.command, '--timeout', String(CLIENT_TIMEOUT_MS), ...common];
      return await runSuite('client', args, out);
    } finally {
      await door.close();
    }
  }
  const endpoint = await startTarget(target, join(folder, `home-${target}-${requirement}`));
  try {
    return await runSuite('server', ['--url', endpoint.url, ...common], out);
  } finally {
    await endpoint.stop();
  }
}

/** What went wrong, a line a check; what does not count only when asked for. */
function failuresOf({ scenarios, unscored }: SuiteResult, all: boolean): string[] {
  return scenarios
    .filter(({ scenario }) => all || !unscored.has(scenario))
    .flatMap(({ scenario, checks }) =>
      checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, status, errorMessage }) => {
          const counts = unscored.has(scenario) ? '(not scored) ' : '';
          return `  ${status} ${counts}${scenario}:${id}  ${errorMessage ?? ''}`.slice(0, 300);
        }),
    );
}

function passes({ result, problem }: Run): boolean {
  return result !== undefined && result.rc === 0 && problem === undefined;
}

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true },
    requirements: { type: 'string', multiple: true },
    scenario: { type: 'string' },
    'expected-failures': { type: 'string', default: path('expected-failures.yaml') },
    output: { type: 'string', short: 'o' },
    verbose: { type: 'boolean', default: false },
  },
});
const expected = await readExpectedFailures(values['expected-failures']);
const folder = values.output ?? (await mkdtemp(join(tmpdir(), 'toolscout-conformance-')));
const runs: Run[] = [];
try {
  for (const target of listed('target', values.target, TARGETS)) {
    for (const requirement of listed('requirements', values.requirements, REQUIREMENTS)) {
      if (values.target === undefined && !isUsual(target, requirement)) continue;
      try {
        const result = await runOne(target, requirement, folder, { expected, scenario: values.scenario });
        const complete = target !== 'client' && values.scenario === undefined;
        const problem = complete ? simpleTextProblem(result) : undefined;
        runs.push({ target, requirement, result, problem });
      } catch (thrown) {
        runs.push({ target, requirement, problem: thrown instanceof Error ? thrown.message : String(thrown) });
      }
    }
  }
} finally {
  if (values.output === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

for (const run of runs) {
  const failures = run.result && (values.verbose || !passes(run)) ? failuresOf(run.result, values.verbose) : [];
  if (run.problem === undefined && failures.length === 0) continue;
  console.log([`\n${run.target} · ${run.requirement}`, ...failures, run.problem ?? ''].join('\n'));
  if (run.result && run.result.scenarios.length === 0) console.log(run.result.output);
}
printTable(
  'Conformance: checks of the official suite',
  ['target', 'requirements', 'passed', 'failed', 'warnings', 'rc', ''],
  runs.map((run) => [
    run.target,
    run.requirement,
    ...[run.result?.passed, run.result?.failed, run.result?.warnings, run.result?.rc].map((each) =>
      String(each ?? '–'),
    ),
    passes(run) ? 'ok' : 'FAILED',
  ]),
);
console.log(
  JSON.stringify({
    conformance: runs.map(({ target, requirement, result, problem }) => ({
      target,
      requirement,
      passed: result?.passed,
      failed: result?.failed,
      warnings: result?.warnings,
      rc: result?.rc,
      wireSchemaFailures: result?.scenarios.filter(({ checks }) =>
        checks.some(({ id, status }) => id === 'wire-schema-valid' && status === 'FAILURE'),
      ).length,
      ...(problem !== undefined && { problem }),
    })),
  }),
);
if (!runs.every(passes) || runs.length === 0) process.exitCode = 1;
