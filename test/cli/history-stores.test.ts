/** `plat history`, `diff --from`, `get --at`, `log`, `undo` and `owners` on every store, and at either of two servers on one etcd. */
import { expect, test } from 'vitest';
import { platFor } from '../support/plat.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { onPeers, onStores } from '../support/stores.ts';

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => tellsChanges(server, server));
onPeers({}, (one, two) => tellsChanges(one, two));

/** What is changed at one server is told, and taken back, at the other. */
function tellsChanges(changed: () => TestServer, asked: () => TestServer): void {
  test('what was changed is told by each command, and taken back', async () => {
    const [writer, reader] = [platFor(changed()), platFor(asked())];
    const namespace = await changed().namespace();
    const within = (...args: string[]): string[] => [...args, '-n', namespace];
    const manifest = (x: string): Loose => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'told' }, data: { x } });
    const as = (user: string): string[] => ['--as', user, '--as-group', 'system:masters', '--field-manager', user];
    await writer.ok(within('apply', '--server-side', '-f', '-', ...as('alice')), manifest('1'));
    const { resourceVersion } = (await changed().admin.ok('GET', `/api/v1/namespaces/${namespace}/configmaps/told`)).metadata;
    await writer.ok(within('apply', '--server-side', '--force-conflicts', '-f', '-', ...as('bob')), manifest('2'));

    const { items } = await reader.json(within('history', 'cm/told'));
    expect(items.map(({ type, user, fieldManager }: Loose) => [type, user, fieldManager])).toEqual([
      ['updated', 'bob', 'bob'],
      ['created', 'alice', 'alice'],
    ]);
    const diff = await reader.run(within('diff', 'cm/told', '--from', resourceVersion, '--to', 'now'));
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringContaining('-  x: "1"\n+  x: "2"\n') });
    expect((await reader.json(within('get', 'cm', 'told', '--at', resourceVersion))).data).toEqual({ x: '1' });
    expect(await reader.ok(within('log', '--kind', 'configmaps', '--by', 'bob'))).toContain('configmap/told  data.x 1 → 2  bob');
    expect(await reader.ok(within('owners', 'cm/told'))).toMatch(/^ {2}x: "2" +# bob \(Apply, /m);
    expect(await reader.ok(within('undo', 'cm/told', '--yes'))).toContain('data.x 1 → 2');
    expect((await writer.json(within('get', 'cm', 'told'))).data).toEqual({ x: '1' });
  });
}
