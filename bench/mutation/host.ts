// Runs the tests of one file of the security core against its mutants, one after the other, in a process of its own: a mutant that
// never ends is ended with it. The parent says which mutants; each answer is one message.
import { readFileSync } from 'node:fs';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import { mutantsOf, mutate } from './mutants.js';

/** What the parent sends: a file, the tests near it, and the numbers of its mutants; -1 is the file as it is. */
export interface Job {
  readonly path: string;
  readonly tests: readonly string[];
  readonly numbers: readonly number[];
}

/** What became of one mutant. */
export interface Verdict {
  readonly number: number;
  readonly killed: boolean;
  /** The first test that failed, or the error that no test expected. */
  readonly by?: string;
  readonly ms: number;
}

/** How long each file of tests took without a fault. */
const took = new Map<string, number>();

/** The quickest files first: a mutant that one of them notices need not wait for the others. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => took.get(moduleId) ?? 0;
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

async function host({ path, tests, numbers }: Job): Promise<void> {
  const source = readFileSync(path, 'utf8');
  const mutants = mutantsOf(path, source);
  let current = source;
  const vitest = await createVitest(
    'test',
    {
      config: false,
      watch: false,
      include: [...tests],
      pool: 'forks',
      isolate: false,
      maxWorkers: 1,
      fileParallelism: false,
      bail: 1,
      sequence: { sequencer: QuickestFirst },
      testTimeout: 20_000,
      hookTimeout: 30_000,
      expect: { poll: { timeout: 5000 } },
      reporters: [{}],
    },
    { plugins: [{ name: 'mutant', enforce: 'pre', transform: (_code, id) => (id === path ? current : undefined) }] },
  );
  for (const number of numbers) {
    current = number === -1 ? source : mutate(source, mutants[number]!);
    vitest.invalidateFile(path);
    const began = performance.now();
    const specifications = tests.map((test) => vitest.getRootProject().createSpecification(test));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, true);
    if (number === -1) for (const module of testModules) took.set(module.moduleId, module.diagnostic().duration);
    const failed = testModules.filter((module) => !module.ok());
    const test = failed.flatMap((module) => [...module.children.allTests('failed')])[0];
    const problem = failed.flatMap((module) => [...module.errors()])[0] ?? unhandledErrors[0];
    const killed = failed.length > 0 || unhandledErrors.length > 0;
    const by = test?.fullName ?? (problem as { message?: string } | undefined)?.message;
    const verdict: Verdict = { number, killed, ...(by && { by }), ms: performance.now() - began };
    process.send!(verdict);
  }
  await vitest.close();
}

process.once('message', (job: Job) => {
  void host(job).then(
    () => process.exit(0),
    (thrown: unknown) => {
      console.error(thrown);
      process.exit(1);
    },
  );
});
