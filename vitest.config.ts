import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledModules, placeInSource, resolveCompiled, runsOnce } from './test/support/compiled-source.ts';
import { SkipListReporter } from './test/support/skip-list.ts';
import { oldKubectl } from './test/support/test-programs.ts';

const every = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'];

/** Files that change or measure what a process has once. Each gets a process of its own; all others share the workers' processes. */
const counted = [
  // Handles and timers of the whole process are counted.
  'test/embedding/{lifetime,kit-lifetime}.test.ts',
];
const measured = [
  // Memory.
  'test/server/long-lists.test.ts',
];

/** A whole release, made twice: `npm run test:release`. */
const released = process.env.TEST_RELEASE === undefined ? ['test/release/**'] : [];

/**
 * What takes longest begins first, so that no worker has it before it when the others are done. Vitest itself would begin with the
 * largest files; those that start programs and wait for them are small. At the end there are tests of one module, which are short.
 */
const first = [
  'test/faults/',
  'test/how-to.test.ts',
  'test/examples/',
  'test/packages/',
  'test/controllers/faults',
  'test/parity/parity',
  'test/clients/',
  'test/console/',
  'test/programs/',
  'etcd/faults',
  'test/encryption/',
  'test/embedding/',
  'test/envtest/',
  'test/property/requests',
  'test/fuzz/',
  'test/rights/',
  'test/store/',
  'test/kubectl/',
  'test/terminal/',
  'test/bench/',
  'packages/storage/src/engines/',
  'properties.test.ts',
  'test/controllers/',
  'test/server/',
  'test/cli/',
  'test/workloads/',
  'test/kinds/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = first.findIndex((part) => moduleId.includes(part));
      // A worker that files share ends where one that needs its own process comes next, so these come before all others.
      return (at < 0 ? first.length : at) + (project.name !== 'shared' ? 0 : first.length + 1);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Where the tests run once, Node loads their modules without vitest, but for those that prepare a run or a test file. */
const preparing = /\/test\/support\/(?:temporary-run|compiled-source|signing-key|temporary-file|processor-time)\.ts$/;
const server = runsOnce ? { deps: { inline: [preparing], external: [compiledModules] } } : {};

/** Tests of kubectl run with the one of the PATH, and where Debian's older one is there as well, with that, too. */
const withOlderKubectl = ['test/kubectl/**/*.test.ts', 'test/cli/operations-kubectl.test.ts'];
const hasTwoKubectls = existsSync(oldKubectl) && spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0;

export default defineConfig({
  // Packages lead to their sources where vitest resolves them itself.
  ssr: { resolve: { conditions: ['source', 'module', 'node'] } },
  plugins: runsOnce ? [resolveCompiled(preparing)] : [],
  test: {
    globalSetup: ['test/support/temporary-run.ts'],
    reporters: ['default', new SkipListReporter()],
    onStackTrace: placeInSource,
    // Each takes time of every test file.
    setupFiles: ['test/support/temporary-file.ts', ...(process.env.TEST_TIMES === undefined ? [] : ['test/support/processor-time.ts'])],
    // Only what hangs takes so long, on a busy machine as well.
    testTimeout: 120_000,
    // So is what a test looks at again and again until it holds, which a machine under load may show late.
    expect: { poll: { timeout: 100_000, interval: 20 } },
    hookTimeout: 120_000,
    pool: 'forks',
    // Two more than the processors that tests are meant for: with one more, the processors were idle for an eighth of a run, because
    // some tests wait for most of their time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Files share processes: what a test replaces in one must not reach the next.
    restoreMocks: true,
    // Programs of tests have a cache of their own each: what was compiled of the program is the same for all.
    env: { PLAT_FREEZE: '1', NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: every, exclude: [...counted, ...measured, ...released], isolate: false, server },
      },
      { extends: true, test: { name: 'counted', include: counted, server } },
      { extends: true, test: { name: 'measured', include: measured, server } },
      ...(hasTwoKubectls
        ? [
            {
              extends: true as const,
              test: { name: 'older kubectl', include: withOlderKubectl, isolate: false, env: { KUBECTL: oldKubectl }, server },
            },
          ]
        : []),
    ],
  },
});
