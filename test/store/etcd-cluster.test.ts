/**
 * Etcd as people run it: three members with TLS, client certificates and a user with a password, operated with etcdctl while two servers
 * write to it. The commands are those of docs/storage-etcd.md.
 */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type EtcdFixture, etcdMissing, startEtcdCluster, startReplacement } from '../support/etcd.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const run = promisify(execFile);
const missing = etcdMissing ?? etcdctlMissing();
function etcdctlMissing(): string | undefined {
  try {
    execFileSync('etcdctl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no etcdctl program here (Debian: etcd-client)';
  }
}

const PREFIX = '/registry/plat';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe.skipIf(missing !== undefined)(`a cluster of etcd with users${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let members: EtcdFixture[];
  let passwordFile: string;
  let options: TestServerOptions;
  let servers: TestServer[] = [];
  const files = temporaryDirectory('plat-etcd-user');

  /** As the administrator of etcd, who has a password, too. */
  const etcdctl = async (...given: (string | { readonly input: string })[]): Promise<string> => {
    const args = given.filter((argument) => typeof argument === 'string');
    const input = given.find((argument) => typeof argument === 'object')?.input;
    const { caFile = '', certFile = '', keyFile = '' } = members[0]?.tls ?? {};
    const endpoints = members.map(({ endpoint }) => endpoint).join(',');
    const tls = ['--cacert', caFile, '--cert', certFile, '--key', keyFile];
    const env = { ...process.env, ETCDCTL_API: '3', ...(isSecured && { ETCDCTL_USER: 'root:root-password' }) };
    const times = ['--dial-timeout=60s', '--command-timeout=60s'];
    const running = run('etcdctl', [...tls, ...times, '--endpoints', endpoints, ...args], { env });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  let isSecured = false;

  beforeAll(async () => {
    members = await startEtcdCluster(3, { tls: true, flags: ['--quota-backend-bytes', String(16 * 1024 * 1024)] });
    await etcdctl('user', 'add', 'root:root-password');
    await etcdctl('user', 'grant-role', 'root', 'root');
    await etcdctl('role', 'add', 'plat');
    await etcdctl('role', 'grant-permission', 'plat', 'readwrite', PREFIX, '--prefix=true');
    await etcdctl('user', 'add', 'control-plane:first-password');
    await etcdctl('user', 'grant-role', 'control-plane', 'plat');
    await etcdctl('auth', 'enable');
    isSecured = true;
    passwordFile = join(files, 'password');
    writeFileSync(passwordFile, 'first-password\n', { mode: 0o600 });
    const { caFile, certFile, keyFile } = members[0]?.tls ?? {};
    options = {
      store: 'etcd',
      etcdServers: members.map(({ endpoint }) => endpoint),
      etcdPrefix: PREFIX,
      etcdCafile: caFile,
      etcdCertfile: certFile,
      etcdKeyfile: keyFile,
      etcdUsername: 'control-plane',
      etcdPasswordFile: passwordFile,
      controllers: [],
    };
    const first = await startTestServer(options);
    servers = [first, await first.peer()];
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    for (const member of members ?? []) await member.stop();
  });

  const at = (index: number): TestServer => servers[index] as TestServer;

  /**
   * Creates objects at both servers while something happens, and compares what was acknowledged with what is there. A create without a
   * clear answer is repeated, at the other server: then it may exist already.
   */
  async function underLoad(name: string, happening: (moreWrites: (count: number) => Promise<void>) => Promise<void>): Promise<void> {
    const acknowledged: string[] = [];
    let isOver = false;
    const writer = async (index: number): Promise<void> => {
      for (let number = 0; !isOver; number++) {
        const object = `${name}-${index}-${number}`;
        for (let attempt = 0; ; attempt++) {
          const status = await at((index + attempt) % 2)
            .admin.post(CONFIG_MAPS, { metadata: { name: object } })
            .then(
              ({ status }) => status,
              () => 0,
            );
          if (status === 201 || (status === 409 && attempt > 0)) break;
          // A server that is being restarted, or a store that elects a leader.
          expect([0, 503, 504, 429]).toContain(status);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        acknowledged.push(object);
      }
    };
    const writers = [0, 1, 2, 3].map((index) => writer(index));
    const moreWrites = async (count: number): Promise<void> => {
      const goal = acknowledged.length + count;
      while (acknowledged.length < goal) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    try {
      await moreWrites(20);
      await happening(moreWrites);
      await moreWrites(20);
    } finally {
      isOver = true;
      await Promise.all(writers);
    }
    const lost = async (server: TestServer): Promise<string[]> => {
      const { items } = await server.admin.ok('GET', CONFIG_MAPS);
      const names = new Set(items.map((item: { metadata: { name: string } }) => item.metadata.name));
      return acknowledged.filter((object) => !names.has(object));
    };
    // A server may still be on its way to another member.
    for (const server of servers) await expect.poll(() => lost(server)).toEqual([]);
  }

  test('servers restarted one after the other lose nothing that was acknowledged', async () => {
    await underLoad('restart', async (moreWrites) => {
      for (const index of [0, 1]) {
        servers[index] = await at(index).restart();
        await moreWrites(20);
      }
    });
  });

  test('a member is lost, removed and replaced', async () => {
    const lost = members[2] as EtcdFixture;
    await underLoad('replace', async (moreWrites) => {
      await lost.kill();
      await moreWrites(20);
      const { members: listed } = JSON.parse(await etcdctl('member', 'list', '-w', 'json')) as { members: { ID: number; name: string }[] };
      expect(listed).toHaveLength(3);
      const line = (await etcdctl('member', 'list')).split('\n').find((text) => text.includes(`, ${lost.name},`)) as string;
      // Until the others have been connected for some seconds, etcd refuses to change its members: "unhealthy cluster".
      const accepted = (...args: string[]): Promise<string> => vi.waitFor(() => etcdctl(...args), { timeout: 60_000, interval: 500 });
      await accepted('member', 'remove', line.split(',')[0] as string);
      const added = await accepted('member', 'add', `${lost.name}b`, `--peer-urls=${lost.peer}`);
      const cluster = /ETCD_INITIAL_CLUSTER="([^"]+)"/.exec(added)?.[1] as string;
      members[2] = await startReplacement(lost, cluster, lost.tls);
      await moreWrites(20);
    });
    await lost.stop();
  });

  test('the member that servers prefer hangs, and goes on later', async () => {
    const [member] = members as [EtcdFixture];
    await underLoad('hang', async (moreWrites) => {
      member.freeze();
      await moreWrites(10);
      member.thaw();
    });
  });

  test('compaction and defragmentation from outside', async () => {
    await underLoad('compact', async (moreWrites) => {
      const { metadata } = await at(0).admin.ok('GET', CONFIG_MAPS);
      await moreWrites(20);
      const revision = JSON.parse(await etcdctl('endpoint', 'status', '-w', 'json'))[0].Status.header.revision as number;
      await etcdctl('compact', String(revision));
      await etcdctl('defrag');
      await moreWrites(20);
      // History has rows of its own, which etcd's compaction does not remove.
      const list = await at(0).admin.get(`${CONFIG_MAPS}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`);
      expect([list.status, list.json.metadata.resourceVersion]).toEqual([200, metadata.resourceVersion]);
    });
  });

  test('the password is changed, and members that were restarted have forgotten tokens: servers log in again by themselves', async () => {
    await underLoad('password', async (moreWrites) => {
      writeFileSync(passwordFile, 'second-password', { mode: 0o600 });
      await etcdctl('user', 'passwd', 'control-plane', '--interactive=false', { input: 'second-password\n' });
      await moreWrites(20);
      for (const member of members) {
        await member.kill();
        await member.start();
        await moreWrites(10);
      }
    });
  });

  test('what etcd refuses is said in its words', async () => {
    const { caFile = '', certFile = '', keyFile = '' } = members[0]?.tls ?? {};
    const start = (changes: TestServerOptions) => startTestServer({ ...options, ...changes });
    const wrong = join(files, 'wrong');
    writeFileSync(wrong, 'wrong-password', { mode: 0o600 });
    await expect(start({ etcdPasswordFile: wrong })).rejects.toThrow(
      'etcd refuses the user "control-plane": etcdserver: authentication failed, invalid user ID or password',
    );
    await expect(start({ etcdPasswordFile: join(files, 'none') })).rejects.toThrow('the password for etcd cannot be read: ENOENT');
    await expect(start({ etcdPrefix: '/other' })).rejects.toThrow('etcdserver: permission denied');
    // The common name of the certificate is no user of this etcd.
    await expect(
      start({ etcdUsername: '', etcdPasswordFile: undefined, etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile }),
    ).rejects.toThrow(/etcdserver: (user name|permission denied|invalid auth)|etcd asks for a user/);
  });

  test('a full etcd takes no writes, says so, and takes them again when there is room', async () => {
    const data = { text: 'x'.repeat(1024 * 1024) };
    let full = await at(0).admin.post(CONFIG_MAPS, { metadata: { name: 'large-0' }, data });
    for (let number = 1; full.status === 201 && number < 64; number++)
      full = await at(0).admin.post(CONFIG_MAPS, { metadata: { name: `large-${number}` }, data });
    expect([full.status, full.json]).toMatchObject([
      503,
      {
        reason: 'ServiceUnavailable',
        details: { causes: [{ reason: 'StoreFull' }] },
        message: expect.stringContaining('etcd has used up its space'),
      },
    ]);
    expect((await at(1).admin.get(CONFIG_MAPS)).status).toBe(200);
    // Deletions are writes that a full etcd takes.
    expect((await at(0).admin.delete(CONFIG_MAPS)).status).toBe(200);
    const revision = JSON.parse(await etcdctl('endpoint', 'status', '-w', 'json'))[0].Status.header.revision as number;
    await etcdctl('compact', String(revision));
    // Members free the space of compacted revisions in the background: the alarm is back while one has not.
    const statusWithRoom = async (): Promise<number> => {
      await etcdctl('defrag');
      await etcdctl('alarm', 'disarm');
      return (await at(1).admin.post(CONFIG_MAPS, { metadata: { generateName: 'again-' } })).status;
    };
    await expect.poll(statusWithRoom).toBe(201);
  });
});
