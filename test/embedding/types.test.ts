/** The declarations of the package, as projects of both kinds of modules compile against them. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The compiler runs once over much: threads that repeat each other's work and collecting garbage often take half as long again. */
const tsc = (...args: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(join(root, 'node_modules', '.bin', 'tsc'), [...args, '--singleThreaded'], { env: { ...process.env, GOGC: '800' } });

const program = `
async function main(): Promise<void> {
  const server: TestServer = await startTestServer({ identity: 'kubernetes', clock: 'fake', objects: [{ apiVersion: 'v1', kind: 'Namespace' }] });
  const client = server.client('alice', ['dev']);
  const deployments = client.apps.v1.deployments('ns');
  const made = await deployments.create({ metadata: { name: 'a' }, spec: { replicas: 1 } });
  const replicas: number | undefined = made.spec.replicas;
  await client.core.v1.nodes().list();
  await deployments.scale('a', 3);
  await client.waitFor(made, 'Available', { timeout: '10s' });
  for await (const { type, object } of client.core.v1.pods('a').watch()) console.log(type, object.status.phase, replicas);
  const widgets = client.resource<{ metadata: { name?: string }; spec: { size: number } }>('widgets', 'ns');
  console.log((await widgets.get('w')).spec.size, new ApiError(404, '', ''), typeof startServer);
  // @ts-expect-error there is no such field
  await deployments.create({ spec: { replica: 1 } });
  // @ts-expect-error config maps cannot be scaled
  await client.core.v1.configmaps('ns').scale('a', 3);
  // @ts-expect-error a number is needed
  await deployments.create({ spec: { replicas: 'many' } });
  // @ts-expect-error nodes have no namespace
  client.core.v1.nodes('ns');
}
void main();
`;

/** A test of a project: the matchers have types by the import of `withServer` alone. */
const matching = (runner: string, helpers: string): string => `
import { afterAll, beforeAll, expect, test } from '${runner}';
import { withServer } from '@plat-dev/plat/testing/${helpers}';
const onServer = withServer({ identity: 'kubernetes' }, { beforeAll, afterAll, expect });
test('a', onServer(async (server) => {
  expect(server).toHaveSeen({ verb: 'get', resource: 'pods' });
  expect(server).not.toHaveSeenTimes({ verb: 'get' }, 3);
  await expect(server).toEventuallyBeGone({ apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: 'b' });
  // @ts-expect-error there is no such field of a request
  expect(server).toHaveSeen({ verbs: 'get' });
}));
`;

test('modules and scripts compile against the package, strictly, and so do tests with its matchers', { timeout: 300_000 }, async () => {
  const project = temporaryDirectory('plat-types');
  const modules = join(project, 'node_modules');
  const types = join(modules, '@plat-dev', 'plat', 'dist', 'types');
  mkdirSync(join(types, '..'), { recursive: true });
  cpSync(join(root, 'package.json'), join(modules, '@plat-dev', 'plat', 'package.json'));
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'types.mjs'), types]);
  // Types that are written out instead of named would be a megabyte.
  expect(statSync(join(types, 'client', 'typed', 'built-in-types.d.ts')).size).toBeLessThan(64 * 1024);
  mkdirSync(join(modules, '@types'));
  symlinkSync(join(root, 'node_modules', '@types', 'node'), join(modules, '@types', 'node'));
  for (const name of ['undici-types', 'undici']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  const imports = `import { startServer } from '@plat-dev/plat';\nimport { ApiError, startTestServer, type TestServer } from '@plat-dev/plat/testing';\n`;
  writeFileSync(join(project, 'module.mts'), `${imports}${program}`);
  writeFileSync(join(project, 'script.cts'), `${imports}${program}`);
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    noEmit: true,
    skipLibCheck: false,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['module.mts', 'script.cts'] }));
  const compiled = await tsc('-p', project).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
  mkdirSync(join(modules, '@jest'));
  for (const name of ['vitest', 'expect', '@jest/globals']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(project, 'vitest.mts'), matching('vitest', 'vitest'));
  writeFileSync(join(project, 'jest.cts'), matching('@jest/globals', 'jest'));
  // Declarations of the runners are theirs to check.
  const tests = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: ['vitest.mts', 'jest.cts'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(tests));
  const { stdout } = await tsc('-p', project).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
