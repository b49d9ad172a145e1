/** A store belongs to the identity that made it. */
import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { serverOptions } from '../../packages/compose/src/config/server-options.ts';
import { startServer } from '../../packages/compose/src/server.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { unique } from '../support/server.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const made: string[] = [];
const directory = (): string => {
  const path = temporaryDirectory('plat-identity');
  made.push(path);
  // None of the store's, and it takes longer to make than a start.
  provideSigningKey(path);
  return path;
};
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

const options = (identity: string, dataDir: string, more: Parameters<typeof serverOptions>[0] = {}) =>
  serverOptions({ identity, dataDir, store: 'lmdb', securePort: 0, ...more });

test.each([
  ['plat', 'kubernetes'],
  ['kubernetes', 'plat'],
])('a directory made under %s is not opened under %s, and serves as before', async (own, other) => {
  const dataDir = directory();
  const first = await startServer(options(own, dataDir), { log: silentLog });
  await first.close();
  await expect(startServer(options(other, dataDir), { log: silentLog })).rejects.toThrow(
    new RegExp(
      `made under the identity "${own}" and cannot be opened under "${other}": start the server with --identity ${own}, .*--data-dir.*plat store export`,
    ),
  );
  const again = await startServer(options(own, dataDir), { log: silentLog });
  await again.close();
});

test.skipIf(etcdMissing !== undefined)('every server that joins a store in etcd is of the identity of the first (needs etcd)', async () => {
  const etcd = await startEtcd();
  const etcdPrefix = `/registry/${unique()}`;
  const shared = { store: 'etcd', etcdServers: [etcd.endpoint], etcdPrefix } as const;
  const first = await startServer(options('plat', directory(), shared), { log: silentLog });
  await expect(startServer(options('kubernetes', directory(), shared), { log: silentLog })).rejects.toThrow(
    /made under the identity "plat" .*start the server with --identity plat, .*--etcd-prefix/,
  );
  const second = await startServer(options('plat', directory(), shared), { log: silentLog });
  const other = await startServer(options('kubernetes', directory(), { ...shared, etcdPrefix: `${etcdPrefix}-2` }), { log: silentLog });
  await Promise.all([first.close(), second.close(), other.close()]);
  await etcd.stop();
});
