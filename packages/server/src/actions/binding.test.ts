import { Slices } from '@plat-dev/lib/slices';
import { storedValue } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { RegistryDeps } from '../registry/context.ts';
import type { Action } from '../services.ts';
import { bindingActions } from './binding.ts';

test('a request for bindings waits for its pod while pods are still being loaded', async () => {
  let isRead = false;
  const collection = {
    items: {
      get(): undefined {
        if (!isRead) throw new Error('the pod is not loaded');
      },
    },
    pending: () => Promise.reject(new Error('it waits for all pods')),
    unreadableAt: () => undefined,
    // There is none.
    look: async (key: string): Promise<void> => {
      isRead = key === 'a/one';
    },
  };
  const resource = { group: '', resource: 'pods' };
  const deps = {
    catalog: { builtin: () => ({ collection, resource, kind: { namespaced: true } }) },
    admission: { admit: async () => {}, validate: async () => {} },
    cache: { engine: { exclusive: true } },
  } as unknown as RegistryDeps;
  const bind = new Map(bindingActions(deps)).get('core/bindings') as Action;
  const write = { resource: { resource, kind: { kind: 'Binding' } }, namespace: 'a', name: '', subresource: '', dryRun: false };
  const body = { metadata: { name: 'one' }, target: { name: 'node1' } };
  await expect(bind({ write, body } as unknown as Parameters<Action>[0])).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
});

test('a large pod is bound in slices: it is neither decoded nor encoded at once', async () => {
  const pod = { metadata: { name: 'one', namespace: 'a', uid: 'u' }, spec: {}, status: {} };
  const item = { key: 'a/one', revision: 5, created: 4, bytes: Buffer.alloc(100_000) };
  const committed: unknown[] = [];
  const atOnce = (): never => {
    throw new Error('it is done at once');
  };
  const versions = {
    recent: { sharedObject: () => undefined, keep: () => {} },
    decode: async (_: unknown, slices: unknown) => (slices === undefined ? atOnce() : pod),
    encode: atOnce,
    *encodedValue(object: { spec: unknown }) {
      yield;
      committed.push(object.spec);
      return storedValue('{"metadata":{"uid":"u"}}', 'u');
    },
  };
  const collection = {
    items: new Map([[item.key, item]]),
    factsOf: () => ({ labels: undefined, fields: undefined }),
    readsBy: () => true,
    prefix: 'pods/',
  };
  const resource = { collection, versions, resource: { group: '', resource: 'pods' }, kind: { namespaced: true } };
  const deps = {
    catalog: { builtin: () => resource },
    admission: { admit: async () => {}, validate: async () => {} },
    cache: { engine: { exclusive: true }, commit: async () => 6 },
    env: { now: () => 0, feature: () => false },
    maxObjectBytes: 1000,
  } as unknown as RegistryDeps;
  const bind = new Map(bindingActions(deps)).get('core/bindings') as Action;
  const asked: number[] = [];
  const request = {
    slices(bytes: number) {
      asked.push(bytes);
      return new Slices();
    },
  };
  const user = { name: 'scheduler', groups: [] };
  const write = { resource, namespace: 'a', name: '', subresource: '', dryRun: false, user, manager: 'scheduler', request };
  await bind({ write, body: { metadata: { name: 'one' }, target: { name: 'node1' } } } as unknown as Parameters<Action>[0]);
  expect(asked).toEqual([100_000]);
  expect(committed).toEqual([{ nodeName: 'node1' }]);
});
