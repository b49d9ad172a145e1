/** The objects under `examples/`: one of every kind, good for the server and for kubectl. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examplesFolder, kinds, readExamples } from '../support/examples.ts';
import { kubectlMissing, kubectlProgram } from '../support/kubectl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const examples = readExamples();
const kept = examples.filter(({ served }) => served.kind.virtual !== true);
let server: TestServer;

beforeEach(async () => {
  server = await startTestServer({ identity: 'kubernetes', allowPrivileged: true });
});
afterEach(() => server.close());

test('every kind that can be created has one example, in a file of its name', () => {
  const nameOf = ({ group, kind }: { group: string; kind: string }): string =>
    `${group === '' ? 'core' : group.split('.')[0]}-${kind.toLowerCase()}.yaml`;
  const wanted = kinds.filter((kind) => kind.verbs.includes('create')).map(nameOf);
  expect(examples.map(({ served }) => nameOf(served.kind)).sort()).toEqual(wanted.sort());
  for (const { file, served } of examples) expect(basename(file).replace(/^\d+-/, '')).toBe(nameOf(served.kind));
});

test('every example says in its first line what it shows', () => {
  for (const { file } of examples) expect(readFileSync(join(examplesFolder, file), 'utf8'), file).toMatch(/^# [A-Z].*[.?]\n[^#]/);
});

test('every example is accepted, in the order of the files, and no field of it is unknown', async () => {
  for (const { file, path, object } of examples) {
    const tried = await server.admin.post(`${path}?dryRun=All&fieldValidation=Strict`, object);
    expect([file, tried.status, tried.status < 300 ? '' : tried.text]).toEqual([file, 201, '']);
    await server.admin.ok('POST', path, object);
  }
  expect(server.errors).toEqual([]);
});

/** What kubectl printed. */
function kubectl(...args: string[]): Promise<{ code: number; out: string; errors: string }> {
  const all = ['--kubeconfig', server.running.adminConfigPath, '--cache-dir', join(server.dataDir, 'kubectl-cache'), ...args];
  return new Promise((resolve) => {
    execFile(kubectlProgram, all, { cwd: examplesFolder, maxBuffer: 16 << 20 }, (error, out, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, errors }),
    );
  });
}

test.skipIf(kubectlMissing !== undefined)('kubectl creates, shows and describes every example', { timeout: 120_000 }, async () => {
  const created = await kubectl('create', '-f', '.');
  expect(created.code, created.errors).toBe(0);
  expect(created.out.trim().split('\n')).toHaveLength(kept.length);

  const [shown, described, asked] = await Promise.all([
    kubectl('get', '-o', 'wide', '-f', '.'),
    kubectl('describe', '-f', '.'),
    kubectl('create', '-f', 'requests'),
  ]);
  expect(shown?.code, shown?.errors).toBe(0);
  expect(described?.code, described?.errors).toBe(0);
  expect(asked?.code, asked?.errors).toBe(0);
  expect(asked?.out.trim().split('\n')).toHaveLength(examples.length - kept.length);
  for (const { file, object } of kept) {
    expect(shown?.out, file).toMatch(new RegExp(`(^|\\s)([\\w.]+/)?${object.metadata.name}(\\s|$)`, 'm'));
    expect(described?.out, file).toMatch(new RegExp(`^Name:\\s+${object.metadata.name}$`, 'm'));
  }
  expect(shown?.out).toMatch(/^deployment\.apps\/front +0\/3 +0 +0 +\S+ +front +registry\.example\.com\/shop\/front:5\.0 +app=front$/m);
  expect(server.errors).toEqual([]);
});
