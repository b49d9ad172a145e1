import { expect, test } from 'vitest';
import type { RegistryDeps } from '../../registry/context.ts';
import type { Action } from '../services.ts';
import { bindingActions } from './binding.ts';

test('a request for bindings waits for pods that are still being loaded', async () => {
  const collection = {
    items: {
      get(): undefined {
        if (collection.pending !== undefined) throw new Error('the pods are not loaded');
      },
    },
    // Loads the pods: there are none.
    pending: (async () => {
      collection.pending = undefined;
    }) as (() => Promise<void>) | undefined,
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
