/** `plat store`: backups, restores and what they refuse. */
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { FRESH_WAIT_MS } from '../../packages/server/src/registry/list.ts';
import { openEngine } from '../../packages/storage/src/engines/index.ts';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { type PlatResult, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer(options);
  cleanups.push(() => server.close());
  return server;
}

const cwd = temporaryDirectory('plat-store-cli');
async function plat(...args: string[]): Promise<PlatResult> {
  const io = testIO({ cwd });
  const code = await run(['store', ...args], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await plat(...args);
  if (code !== 0) throw new Error(`plat store ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
  return stdout;
}
let files = 0;
const newFile = (): string => join(cwd, `${files++}.backup`);

/** A directory that a server has used, with one object of the test. */
async function usedDirectory(options?: TestServerOptions): Promise<{ dataDir: string; version: number }> {
  if (options !== undefined) return madeDirectory(options);
  // Most are copies of one.
  used ??= madeDirectory({});
  const { dataDir, version } = await used;
  const copy = temporaryDirectory('plat-store');
  cpSync(dataDir, copy, { recursive: true });
  return { dataDir: copy, version };
}
let used: ReturnType<typeof madeDirectory> | undefined;
async function madeDirectory(options: TestServerOptions): Promise<{ dataDir: string; version: number }> {
  const dataDir = temporaryDirectory('plat-store');
  const server = await startTestServer({ store: 'lmdb', dataDir, ...options });
  const made = await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' }, data: { a: 'b' } });
  await server.running.close();
  return { dataDir, version: Number(made.metadata.resourceVersion) };
}

describe('backup and restore', () => {
  test('of a directory into another: a server finds everything there, with greater versions', async () => {
    const { dataDir, version } = await usedDirectory();
    const file = newFile();
    const said = JSON.parse(await ok('backup', '--data-dir', dataDir, '--to', file, '-o', 'json'));
    expect(said).toMatchObject({ file, identity: 'plat', engine: 'lmdb', encrypted: 0, unreadableCount: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const target = temporaryDirectory('plat-store');
    const restored = JSON.parse(await ok('restore', '--from', file, '--data-dir', target, '-o', 'json'));
    expect(restored).toMatchObject({ entries: said.entries, identity: 'plat' });
    const server = await start({ store: 'lmdb', dataDir: target });
    const found = await server.admin.ok('GET', '/api/v1/namespaces/default/configmaps/kept');
    expect(found.data).toEqual({ a: 'b' });
    expect(Number(found.metadata.resourceVersion)).toBeGreaterThan(version + 1_000_000);
    expect(server.errors).toEqual([]);
  });

  test('of a running server is the default, and needs its right', async () => {
    const server = await start({ store: 'lmdb' });
    const cli = platFor(server);
    const out = await cli.ok(['store', 'backup', '--to', 'online.backup']);
    expect(out).toMatch(/online\.backup: \d+ entries at revision \d+, /);
    expect(await ok('verify', '--from', join(cli.cwd, 'online.backup'))).toMatch(/is whole/);
    const alice = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--as', 'alice']);
    const refused = await alice.run(['store', 'backup', '--to', 'a.backup']);
    expect([refused.code, readdirSync(alice.cwd)]).toEqual([1, []]);
    expect(refused.stderr).toContain('cannot get path "/store/backup"');
  });

  test('a directory that a server uses is refused, with the way that works', async () => {
    const server = await start({ store: 'lmdb' });
    const file = newFile();
    const refused = await plat('backup', '--data-dir', server.dataDir, '--to', file);
    expect([refused.code, existsSync(file)]).toEqual([1, false]);
    expect(refused.stderr).toMatch(/in use by a server.*stop it first, or leave --data-dir out/);
    for (const args of [['stat'], ['restore', '--from', file, '--force']]) {
      expect((await plat(...args, '--data-dir', server.dataDir)).code, args.join(' ')).toBe(1);
    }
  });

  test('a file that is there is not overwritten, and no directory is made where there is no store', async () => {
    const { dataDir } = await usedDirectory();
    const file = newFile();
    writeFileSync(file, 'mine');
    expect(await plat('backup', '--data-dir', dataDir, '--to', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not overwritten'),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const nowhere = join(cwd, 'nowhere');
    expect(await plat('backup', '--data-dir', nowhere, '--to', newFile())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no store in'),
    });
    expect(existsSync(nowhere)).toBe(false);
  });

  test('errors name the file and say what is wrong with it', async () => {
    const { dataDir } = await usedDirectory();
    const missing = join(cwd, 'missing.backup');
    for (const command of ['verify', 'stat']) {
      expect((await plat(command, '--from', missing)).stderr, command).toBe(`plat: there is no file or directory ${missing}\n`);
      expect((await plat(command, '--from', cwd)).stderr, command).toBe(`plat: ${cwd} is a directory, not a file\n`);
      const foreign = join(dataDir, 'admin.conf');
      expect((await plat(command, '--from', foreign)).stderr).toBe(
        `plat: ${foreign}: this is not a backup that \`plat store backup\` made\n`,
      );
    }
    expect((await plat('backup', '--data-dir', dataDir, '--to', join(cwd, 'no/where.backup'))).stderr).toBe(
      `plat: there is no directory ${join(cwd, 'no')} to write where.backup into: make it first\n`,
    );
    await expect(startTestServer({ store: 'lmdb', dataDir, restoreFrom: missing })).rejects.toThrow(/has a store already: start without/);
    await expect(startTestServer({ store: 'memory', restoreFrom: missing })).rejects.toThrow(`there is no file or directory ${missing}`);
  });

  test('a backup that is cut is refused by all, and nothing is written', async () => {
    const { dataDir } = await usedDirectory();
    const file = newFile();
    await ok('backup', '--data-dir', dataDir, '--to', file);
    truncateSync(file, statSync(file).size - 1);
    const target = temporaryDirectory('plat-store');
    for (const args of [['verify'], ['stat'], ['restore', '--data-dir', target]]) {
      expect(await plat(...args, '--from', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('cut short') });
    }
    expect(readdirSync(target)).toEqual([]);
  });

  test('--force moves the store that is there aside; keys and configuration stay', async () => {
    const { dataDir } = await usedDirectory();
    const file = newFile();
    await ok('backup', '--data-dir', dataDir, '--to', file);
    const server = await startTestServer({ store: 'lmdb', dataDir });
    await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'later' } });
    const config = readFileSync(join(dataDir, 'admin.conf'), 'utf8');
    await server.running.close();
    expect(await plat('restore', '--from', file, '--data-dir', dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--force'),
    });
    const { movedTo } = JSON.parse(await ok('restore', '--from', file, '--data-dir', dataDir, '--force', '-o', 'json'));
    expect(JSON.parse(await ok('stat', '--data-dir', movedTo, '-o', 'json')).objects).toBeGreaterThan(0);
    expect(readFileSync(join(dataDir, 'admin.conf'), 'utf8')).toBe(config);
    const again = await start({ store: 'lmdb', dataDir });
    expect((await again.admin.get('/api/v1/namespaces/default/configmaps/later')).status).toBe(404);
    expect((await again.admin.get('/api/v1/namespaces/default/configmaps/kept')).status).toBe(200);
  });

  test('a restored directory of one identity is not served under the other', async () => {
    const { dataDir } = await usedDirectory({ identity: 'kubernetes' });
    const file = newFile();
    await ok('backup', '--data-dir', dataDir, '--to', file);
    await expect(startTestServer({ store: 'memory', restoreFrom: file })).rejects.toThrow(/identity kubernetes.*plat store export/);
    expect(await ok('restore', '--from', file, '--data-dir', temporaryDirectory('plat-store'))).toContain(
      'start the server with --identity kubernetes',
    );
  });

  test('flags that name two stores, none, or have no effect are refused', async () => {
    for (const args of [
      ['backup'],
      ['backup', '--to', 'x', '--data-dir', 'a', '--etcd-servers', 'b'],
      ['backup', '--to', 'x', '--etcd-prefix', '/a'],
      ['restore', '--data-dir', 'a'],
      ['restore', '--from', 'x'],
      ['stat'],
      ['stat', '--from', 'x', '--data-dir', 'a'],
      ['verify'],
      ['backup', 'now', '--to', 'x'],
      ['nonsense'],
    ]) {
      expect((await plat(...args)).code, args.join(' ')).toBe(2);
    }
  });

  test.skipIf(process.getuid?.() === 0)('a directory that cannot be read says so', async () => {
    const { dataDir } = await usedDirectory();
    chmodSync(dataDir, 0o000);
    expect((await plat('backup', '--data-dir', dataDir, '--to', newFile())).code).toBe(1);
    chmodSync(dataDir, 0o700);
  });
});

describe('damage', () => {
  /** A directory in which a byte of one value differs. */
  async function damaged(): Promise<string> {
    const { dataDir } = await usedDirectory();
    const path = join(dataDir, 'store.mdb');
    const bytes = readFileSync(path);
    // It stands once in the text of the object and once in the list of its fields.
    for (let at = bytes.indexOf('"name":"kept"'); at >= 0; at = bytes.indexOf('"name":"kept"', at + 1)) bytes[at + 9] = 0x4b;
    writeFileSync(path, bytes);
    return dataDir;
  }

  test('verify names it, repair shows what would be lost and changes nothing, and then keeps the rest', async () => {
    const dataDir = await damaged();
    const before = readFileSync(join(dataDir, 'store.mdb'));
    const found = await plat('verify', '--data-dir', dataDir);
    expect([found.code, found.stdout]).toEqual([3, expect.stringContaining('core/configmaps/default/kept')]);
    const dry = await plat('repair', '--data-dir', dataDir);
    expect([dry.code, dry.stdout]).toEqual([3, expect.stringContaining('lost: core/configmaps/default/kept')]);
    expect(dry.stdout).toContain('nothing was changed');
    expect(readFileSync(join(dataDir, 'store.mdb')).equals(before)).toBe(true);
    expect(readdirSync(dataDir).filter((name) => name.startsWith('store.dry-run'))).toEqual([]);
    const file = newFile();
    const partly = await plat('backup', '--data-dir', dataDir, '--to', file);
    expect([partly.code, partly.stderr]).toEqual([3, expect.stringContaining('core/configmaps/default/kept')]);
    const done = JSON.parse((await plat('repair', '--data-dir', dataDir, '--yes', '-o', 'json')).stdout);
    expect(done.lost).toMatchObject([{ key: 'core/configmaps/default/kept' }]);
    expect(existsSync(join(done.movedTo, 'store.mdb'))).toBe(true);
    expect(await ok('verify', '--data-dir', dataDir)).toContain('is whole');
    const server = await start({ store: 'lmdb', dataDir });
    expect((await server.admin.get('/api/v1/namespaces/default')).status).toBe(200);
    expect((await server.admin.get('/api/v1/namespaces/default/configmaps/kept')).status).toBe(404);
  });

  test('a file that is no store: repair and stat do not speak of a store without objects', async () => {
    const { dataDir } = await usedDirectory();
    writeFileSync(join(dataDir, 'store.mdb'), Buffer.alloc(20_000, 'x'));
    const dry = await plat('repair', '--data-dir', dataDir);
    expect([dry.code, dry.stdout]).toEqual([1, '']);
    expect(dry.stderr).toContain(`nothing of the store file in ${dataDir} can be read`);
    const counted = await plat('stat', '--data-dir', dataDir);
    expect([counted.code, counted.stdout]).toEqual([1, '']);
    expect(counted.stderr).toContain(`see \`plat store verify --data-dir ${dataDir}\``);
    expect((await plat('verify', '--data-dir', dataDir)).code).toBe(3);
  });

  test('a directory that is whole, or in use, is left alone', async () => {
    const { dataDir } = await usedDirectory();
    expect(await ok('verify', '--data-dir', dataDir)).toContain('is whole');
    expect(await ok('repair', '--data-dir', dataDir, '--yes')).toContain('there is nothing to repair');
    const server = await start({ store: 'lmdb', dataDir });
    for (const command of ['verify', 'repair', 'stat']) {
      expect(await plat(command, '--data-dir', server.dataDir), command).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('in use'),
      });
    }
    expect((await plat('repair')).code).toBe(2);
    expect((await plat('verify', '--data-dir', join(cwd, 'nowhere'))).code).toBe(1);
  });
});

describe.skipIf(etcdMissing !== undefined)(`with etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  test('to etcd and back; what is there is replaced only with --force, and kept in a file', { timeout: 120_000 }, async () => {
    const { dataDir, version } = await usedDirectory();
    const file = newFile();
    await ok('backup', '--data-dir', dataDir, '--to', file);
    const place = ['--etcd-servers', etcd.endpoint, '--etcd-prefix', '/moved'];
    await ok('restore', '--from', file, ...place);
    const server = await start({ store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix: '/moved' });
    const path = '/api/v1/namespaces/default/configmaps';
    const found = await server.admin.ok('GET', `${path}/kept`);
    expect(Number(found.metadata.resourceVersion)).toBeGreaterThan(version + 10_000);
    await server.admin.ok('POST', path, { metadata: { name: 'in-etcd' } });
    const back = newFile();
    await ok('backup', ...place, '--to', back);
    expect(await plat('restore', '--from', file, ...place)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not empty.*--etcd-prefix.*--force/),
    });
    cleanups.pop();
    await server.close();
    const { movedTo } = JSON.parse(await ok('restore', '--from', file, ...place, '--force', '-o', 'json'));
    expect(await ok('verify', '--from', movedTo)).toContain('is whole');
    const restored = await start({ store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix: '/moved' });
    expect((await restored.admin.get(`${path}/in-etcd`)).status).toBe(404);
    const target = temporaryDirectory('plat-store');
    await ok('restore', '--from', back, '--data-dir', target);
    const home = await start({ store: 'lmdb', dataDir: target });
    expect((await home.admin.get(`${path}/in-etcd`)).status).toBe(200);
    expect((await home.admin.get(`${path}/kept`)).status).toBe(200);
  });

  test('--force deletes nothing under a server, which would go on writing', async () => {
    const { dataDir } = await usedDirectory();
    const file = newFile();
    await ok('backup', '--data-dir', dataDir, '--to', file);
    const server = await start({ store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix: '/used' });
    const refused = await plat('restore', '--from', file, '--etcd-servers', etcd.endpoint, '--etcd-prefix', '/used', '--force');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/in use by a server \(.* port \d+\), and nothing was changed: stop/),
    ]);
    expect((await server.admin.get('/api/v1/namespaces/default')).status).toBe(200);
    expect((await server.admin.get('/api/v1/namespaces/default/configmaps/kept')).status).toBe(404);
  });

  test('stat only reads: the revision of etcd stays as it was', async () => {
    const place = ['--etcd-servers', etcd.endpoint, '--etcd-prefix', '/only-read'];
    await (await startTestServer({ store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix: '/only-read' })).close();
    const revision = async (): Promise<number> => {
      const engine = await openEngine({
        store: 'etcd',
        dataDir: '',
        etcd: { servers: [etcd.endpoint], prefix: '/only-read' },
        historyRetentionMs: 0,
      });
      const newest = await engine.currentRevision();
      await engine.close();
      return newest;
    };
    const before = await revision();
    expect(await ok('stat', ...place)).toContain(String(before));
    expect(await revision()).toBe(before);
  });

  test('a mistyped prefix is not taken for a store without objects', async () => {
    const file = newFile();
    for (const args of [['backup', '--to', file], ['stat'], ['export', '--to', `${file}.objects`]]) {
      const refused = await plat(...args, '--etcd-servers', etcd.endpoint, '--etcd-prefix', '/mistyped');
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/no store in etcd .* below \/mistyped: check/)]);
    }
    expect(existsSync(file)).toBe(false);
  });

  test('revisions that etcd cannot count to are lower only where that is accepted: a list at one of before is refused, and a watch from it', async () => {
    const { dataDir } = await usedDirectory();
    const [first, second] = [newFile(), newFile()];
    await ok('backup', '--data-dir', dataDir, '--to', first);
    const high = temporaryDirectory('plat-store');
    await ok('restore', '--from', first, '--data-dir', high);
    await ok('backup', '--data-dir', high, '--to', second);
    const place = ['--etcd-servers', etcd.endpoint, '--etcd-prefix', '/lower'];
    expect(await plat('restore', '--from', second, ...place)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--accept-lower-revisions'),
    });
    expect((await plat('stat', ...place)).stderr).toContain('there is no store in etcd');
    await ok('restore', '--from', second, ...place, '--accept-lower-revisions');
    const clock = shortWaits({ after: [FRESH_WAIT_MS] });
    const server = await start({ store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix: '/lower', clock });
    const path = '/api/v1/namespaces/default/configmaps';
    const list = await server.admin.get(`${path}?resourceVersion=1000000200`);
    expect([list.status, list.json.details?.causes?.[0]?.reason]).toEqual([504, 'ResourceVersionTooLarge']);
    await server.admin.ok('POST', path, { metadata: { name: 'after' } });
    const watch = await server.admin.get(`${path}?watch=1&resourceVersion=1000000200`);
    expect([watch.status, watch.json.details?.causes?.[0]?.reason]).toEqual([504, 'ResourceVersionTooLarge']);
  });
});
