/**
 * The example operator is tested by its own tests, in each runner, with the package as it is built. With vitest also the test file
 * of docs/embedding.md, as a reader would paste it.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startChild } from '../support/child.ts';
import { examplesFolder } from '../support/examples.ts';
import { finished, programDirectory, programMissing } from '../support/program.ts';

const root = dirname(programDirectory);
const modules = join(root, 'node_modules');
/** A runner has this long for all tests of the example. */
const RUNNER_MS = 240_000;

let installedOnce: string | undefined;
/** A copy of the example with the package installed, for all runners: a directory of its own, and links to what npm would put beside it. */
function installedExample(): string {
  installedOnce ??= installExample();
  return installedOnce;
}
function installExample(): string {
  const directory = temporaryDirectory('plat-operator');
  cpSync(join(examplesFolder, 'operator'), directory, { recursive: true, filter: (path) => !path.includes('node_modules') });
  const installed = join(directory, 'node_modules', '@plat-dev', 'plat');
  mkdirSync(installed, { recursive: true });
  cpSync(programDirectory, join(installed, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  for (const name of ['@kubernetes/client-node', 'lmdb', 'jest', 'jest-environment-node', 'vitest']) {
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, name), link);
  }
  writeFileSync(join(directory, 'test', 'pasted.vitest.mjs'), pastedFile());
  return directory;
}

/** The indented block of the page that begins with the name of a file. */
function pastedFile(): string {
  const page = readFileSync(join(root, 'docs', 'embedding.md'), 'utf8');
  const block = /^ {4}\/\/ web\.test\.mjs(?:.*\n)(?: {4}.*\n|\n)*/m.exec(page)?.[0] ?? '';
  // Waits are longer than a reader's, for a busy machine.
  return block.replace(/^ {4}/gm, '').replace('{ identity:', "{ eventuallyTimeout: '60s', identity:");
}

const isInstalled = (name: string): boolean => {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
};
const missing = programMissing ?? (isInstalled('jest') ? undefined : 'jest is not installed: npm ci');

test.skipIf(missing !== undefined).each([
  ['vitest, with the file of the page', ['node_modules/vitest/vitest.mjs', 'run', '--no-isolate', '--maxWorkers=1'], /Tests .*7 passed/],
  ['Jest, as scripts', ['node_modules/jest/bin/jest.js', '--ci'], /Tests: .*6 passed, 6 total/],
  ['node:test', ['--test', '--test-reporter=tap', 'test/operator.node.mjs'], /# pass 6\n# fail 0/],
])(
  'the tests of the operator pass in %s',
  async (_, args, passed) => {
    // A shell, which changes the directory; variables of the runner that runs this test are none of the example's.
    const shell = `cd ${JSON.stringify(installedExample())} && exec env -u NODE_OPTIONS -u VITEST -u NODE_ENV -u NODE_TEST_CONTEXT NO_COLOR=1 "$@"`;
    const { code, stdout, stderr } = await finished(startChild('sh', ['-c', shell, 'sh', process.execPath, ...args]));
    const printed = `${stdout}\n${stderr}`;
    expect(printed).toMatch(passed);
    expect(code, printed).toBe(0);
  },
  RUNNER_MS,
);
