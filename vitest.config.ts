import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { CORE_THRESHOLDS } from './bench/mutation/security-core.js';
import { memoryFolder } from './test/support/memory-folder.js';
import { patient, shareSlowness } from './test/support/patience.js';

/** Files that take longest. Each starts first in its project, so that no worker waits for one of them at the end. */
const LONGEST = [
  'test/e2e/real-servers.test.ts',
  'test/conformance/conformance.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/matrix.test.ts',
  'test/walk.test.ts',
  'test/examples.test.ts',
  'test/browser/studio.test.ts',
  'test/faults/chaos.test.ts',
  'test/faults/cluster.test.ts',
  'test/gateway/scripts.test.ts',
  'test/gateway/confirm.test.ts',
  'src/connect/open.integration.test.ts',
  'src/approvals/findings/findings.test.ts',
  'src/clients/importers.test.ts',
  'src/execute/validation/argument-validator.test.ts',
];

// Workers and the processes that they start inherit it.
const memory = memoryFolder();
if (memory) process.env['TMPDIR'] ??= memory;
shareSlowness();

/** Tests that drive processes and a browser get a second chance where nobody watches; a fault that is there fails twice. */
const RETRIES = process.env['CI'] === 'true' ? 1 : 0;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return at === -1 ? LONGEST.length : at;
    };
    // A worker goes on only with files of its own project: between two projects all that it has loaded is loaded again.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => place(a) - place(b)),
    );
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest looks for the default export.
export default defineConfig({
  test: {
    // What takes longer says so: test/support/patience.ts.
    testTimeout: patient(30_000),
    hookTimeout: patient(30_000),
    // A condition that is waited for may take long on a busy machine; one that never holds runs into the limit of its test.
    expect: { poll: { timeout: patient(60_000) } },
    // Two more than the cores of a small machine: many tests wait for processes.
    maxWorkers: 4,
    // No module keeps state, so files of a project share what is loaded; loading it for each would take as long as the tests.
    isolate: false,
    // A variable that a test sets does not outlive it.
    unstubEnvs: true,
    setupFiles: ['test/support/same-inputs.ts'],
    // Every project compiles the same sources; the compiled ones are kept in node_modules, by their content.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['{src,web}/**/*.test.ts'], exclude: ['**/*.integration.test.ts'] },
      },
      // Tests of one room that start processes or threads, listen on ports or write many files.
      {
        extends: true,
        test: { name: 'integration', retry: RETRIES, include: ['src/**/*.integration.test.ts'] },
      },
      {
        extends: true,
        test: { name: 'gateway', retry: RETRIES, include: ['test/gateway/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          retry: RETRIES,
          include: ['test/*.test.ts', 'test/{e2e,conformance,fixtures}/**/*.test.ts'],
        },
      },
      // Studio in a real browser; the built command line serves it.
      {
        extends: true,
        test: {
          name: 'browser',
          retry: RETRIES,
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/unpack-chromium.ts'],
        },
      },
      // Short here, long with TOOLSCOUT_TEST_LONG=1: crash loops, broken networks, crowds; and random inputs.
      { extends: true, test: { name: 'faults', retry: RETRIES, include: ['test/faults/**/*.test.ts'] } },
      { extends: true, test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'] } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
      thresholds: { statements: 96, branches: 92, ...CORE_THRESHOLDS },
    },
  },
});
