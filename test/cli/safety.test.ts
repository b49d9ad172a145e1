/** As plat no command reaches a server that was not named; as kubectl the rules are those of kubectl. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processOf } from '../../packages/cli/src/background/process.ts';
import { Records } from '../../packages/cli/src/background/records.ts';
import { MOST_RUNNING, recordRunning, runningServers } from '../../packages/cli/src/background/running-servers.ts';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

let here: TestServer;
let there: TestServer;
beforeAll(async () => {
  [here, there] = await Promise.all([startTestServer(), startTestServer()]);
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
});

interface Place {
  readonly home: string;
  readonly cwd: string;
}
const newPlace = (): Place => ({ home: temporaryDirectory('plat-home'), cwd: temporaryDirectory('plat-cwd') });
const configOf = (server: TestServer): string => readFileSync(server.running.adminConfigPath, 'utf8');
function put(directory: string, path: string, text: string): string {
  const file = join(directory, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
async function plat(place: Place, args: readonly string[], changes: Partial<TestIO> = {}): Promise<{ code: number; io: TestIO }> {
  const io = testIO({ ...place, ...changes });
  return { code: await run(args, io), io };
}
const create = (): string[] => ['create', 'configmap', unique('safe')];
/** The server that has the object: nobody else may. */
async function whoHas(name: string): Promise<TestServer[]> {
  const has = async (server: TestServer): Promise<boolean> =>
    (await server.admin.get(`/api/v1/namespaces/default/configmaps/${name}`)).status === 200;
  const found = await Promise.all([here, there].map(async (server) => ((await has(server)) ? [server] : [])));
  return found.flat();
}

test("the user's own configuration of other clusters is not used by itself", async () => {
  const place = newPlace();
  const file = put(place.home, '.kube/config', configOf(here));
  for (const args of [create(), ['delete', 'configmap', 'x'], ['get', 'configmaps'], [...create(), '--context', 'nothing']]) {
    const { code, io } = await plat(place, args);
    expect(code).toBe(2);
    expect(io.stdout).toBe('');
    expect(io.stderr).toContain('no server is known');
    expect(io.stderr).toContain(`add --kubeconfig ${file}`);
    expect(io.stderr).toContain('plat up');
  }
});

test('a context that is not there comes with the one that was probably meant', async () => {
  const place = newPlace();
  const [, name = ''] = /^current-context: (.*)$/m.exec(configOf(here)) ?? [];
  put(place.home, '.kube/config', configOf(here));
  const { code, io } = await plat(place, ['get', 'ns', '--context', `${name}x`]);
  expect(code).toBe(2);
  expect(io.stderr).toContain(`the context ${name}x (did you mean ${name}?)`);
});

test('a server of plat up that is stopped is named with how to start it', async () => {
  const place = newPlace();
  const records = new Records({ env: {}, home: place.home });
  const stopped = { address: '', identity: 'plat', store: 'lmdb', flags: [], cwd: place.cwd, kubeconfig: 'x', context: 'plat-dev' };
  for (const name of ['dev', 'other']) {
    mkdirSync(records.directory(name), { recursive: true });
    await records.write({ ...stopped, name });
  }
  const { code, io } = await plat(place, ['get', 'ns']);
  expect(code).toBe(2);
  expect(io.stderr).toContain('or `plat up` (`plat up dev` starts dev again, `plat list` shows others), or name one');
});

test.each(['PLATCONFIG', 'PLAT_CONFIG', 'KUBECONFIG'])('%s names one', async (variable) => {
  const args = create();
  const { code, io } = await plat(newPlace(), args, { env: { [variable]: here.running.adminConfigPath } });
  expect([code, io.stderr]).toEqual([0, '']);
  expect(await whoHas(args[2] as string)).toEqual([here]);
});

test('so do --kubeconfig, and --server with a credential', async () => {
  const place = newPlace();
  expect((await plat(place, ['get', 'ns', '--kubeconfig', here.running.adminConfigPath])).code).toBe(0);
  const { code, io } = await plat(place, ['get', 'ns', '--server', here.running.address, '--insecure-skip-tls-verify', '--token', 'wrong']);
  expect(code).toBe(1);
  expect(io.stderr).toContain('Unauthorized');
});

test('the server of the working directory comes before those that run', async () => {
  const place = newPlace();
  put(place.cwd, '.plat/admin.conf', configOf(there));
  const stop = await record(place, here, 1);
  const args = create();
  expect((await plat(place, args)).code).toBe(0);
  expect(await whoHas(args[2] as string)).toEqual([there]);
  await stop();
});

const record = (place: Place, server: TestServer, startedAt: number): Promise<() => Promise<void>> => {
  const clock = new FakeClock(startedAt);
  return recordRunning({ ...place, env: {}, clock }, server.running.address, server.running.adminConfigPath);
};

test('else it is the running server that this user started last, and changing commands name it', async () => {
  const place = newPlace();
  put(place.home, '.kube/config', configOf(there));
  const stop = await record(place, here, 1000);
  expect((await plat(place, ['get', 'ns'])).io.stderr).toBe('');
  const args = create();
  const { code, io } = await plat(place, args);
  expect([code, io.stdout]).toEqual([0, `configmap/${args[2]} created\n`]);
  expect(await whoHas(args[2] as string)).toEqual([here]);
  expect(io.stderr).toBe('');
  await stop();
  expect((await plat(place, ['get', 'ns'])).code).toBe(2);
});

test('a context of a running server may be chosen in the common configuration', async () => {
  const place = newPlace();
  put(place.home, '.kube/config', configOf(there));
  const stop = await record(place, there, 1000);
  const args = create();
  expect((await plat(place, args)).code).toBe(0);
  expect(await whoHas(args[2] as string)).toEqual([there]);
  await stop();
});

test('changing commands name the server if the user could have meant another one', async () => {
  const place = newPlace();
  put(place.cwd, '.plat/admin.conf', configOf(there));
  const stop = await record(place, here, 1000);
  const { io } = await plat(place, create());
  expect(io.stderr).toMatch(/^plat: changing objects at https:\/\/127\.0\.0\.1:\d+ \(context "\S+" of \S+admin\.conf\)\n$/);
  expect(io.stderr).toContain(there.running.address);
  expect((await plat(place, ['get', 'ns'])).io.stderr).toBe('');
  expect((await plat(place, [...create(), '--dry-run=server'])).io.stderr).toBe('');
  await stop();
  expect((await plat(place, create())).io.stderr).toBe('');
});

test('as kubectl it is ~/.kube/config, and nothing of plat', async () => {
  const place = newPlace();
  put(place.home, '.kube/config', configOf(here));
  put(place.cwd, '.plat/admin.conf', configOf(there));
  const args = create();
  const { code, io } = await plat(place, args, { program: 'kubectl', env: { PLATCONFIG: there.running.adminConfigPath } });
  expect([code, io.stdout, io.stderr]).toEqual([0, `configmap/${args[2]} created\n`, '']);
  expect(await whoHas(args[2] as string)).toEqual([here]);
});

test('records of servers that do not run are ignored, and removed by the next server', async () => {
  const place = newPlace();
  const directory = join(place.home, '.local/state/plat/running');
  const stale = { process: { pid: process.pid, started: 'another time' }, address: 'https://a', kubeconfig: 'f', startedAt: 1 };
  put(directory, '1.json', JSON.stringify(stale));
  put(directory, '2.json', '{');
  put(directory, 'other', '');
  expect(await runningServers({ ...place, env: {} })).toEqual([]);
  const stop = await record(place, here, 1000);
  expect(readdirSync(directory)).toContain(`${process.pid}.json`);
  expect((await runningServers({ ...place, env: {} })).map(({ address }) => address)).toEqual([here.running.address]);
  await stop();
  expect(readdirSync(directory)).toEqual(['other']);
});

test('a server of plat up is known before it has recorded itself', async () => {
  const place = newPlace();
  const records = new Records({ ...place, env: {} });
  const { address, adminConfigPath } = here.running;
  const base = { name: 'ci', identity: 'plat', store: 'memory', flags: [], cwd: place.cwd, kubeconfig: 'f', context: 'plat-ci' };
  await records.write({ ...base, address, process: processOf(process.pid) });
  put(records.dataDirectory('ci'), 'admin.conf', readFileSync(adminConfigPath, 'utf8'));
  expect((await plat(place, ['get', 'ns'])).code).toBe(0);
  expect(await runningServers({ ...place, env: {} })).toHaveLength(1);
  const stop = await record(place, here, 1);
  expect(await runningServers({ ...place, env: {} })).toHaveLength(1);
  await stop();
  await records.write({ ...base, address });
  expect((await plat(place, ['get', 'ns'])).code).toBe(2);
});

test('no more than a bounded number of records is read', async () => {
  const place = newPlace();
  const directory = join(place.home, '.local/state/plat/running');
  const own = await record(place, here, 1);
  const text = readFileSync(join(directory, `${process.pid}.json`), 'utf8');
  await own();
  for (let pid = 1; pid <= MOST_RUNNING + 1; pid++) put(directory, `${pid}.json`, text);
  expect(await runningServers({ ...place, env: {} })).toHaveLength(MOST_RUNNING);
});
