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
