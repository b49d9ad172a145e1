/** What a guarded update is answered when another write gets in between its look at the object and its commit. */
import { expect, test } from 'vitest';
import type { Engine, Operation } from '../../packages/storage/src/engine.ts';
import { onStores } from '../support/stores.ts';

/** Makes `first` happen just before the next commit that puts a key with this ending. */
function before(engine: Engine, ending: string, first: (key: string) => Promise<unknown>): void {
  const commit = engine.commit;
  engine.commit = async (operations: readonly Operation[], ...rest) => {
    const own = operations.find(({ type, key }) => type === 'put' && key.endsWith(ending));
    if (own === undefined) return commit.call(engine, operations, ...rest);
    engine.commit = commit;
    await first(own.key);
    return commit.call(engine, operations, ...rest);
  };
}

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  const create = async (name: string) => {
    const path = `/api/v1/namespaces/default/configmaps`;
    const made = await server().admin.ok('POST', path, { metadata: { name }, data: { a: '1' } });
    return { path: `${path}/${name}`, object: { ...made, data: { a: '2' } } };
  };

  test('deleted meanwhile: not found, as there is no newer version', async () => {
    const { path, object } = await create('raced-delete');
    before(server().engine, '/raced-delete', (key) => server().engine.commit([{ type: 'delete', key }]));
    const answer = await server().admin.put(path, object);
    expect([answer.status, answer.json.reason]).toEqual([404, 'NotFound']);
  });

  test('changed meanwhile: a conflict', async () => {
    const { path, object } = await create('raced-update');
    before(server().engine, '/raced-update', () => server().admin.patch(path, { data: { a: '3' } }));
    const answer = await server().admin.put(path, object);
    expect([answer.status, answer.json.reason]).toEqual([409, 'Conflict']);
    expect((await server().admin.get(path)).json.data).toEqual({ a: '3' });
  });
});
