import type { ApiObject } from '@plat-dev/kinds/kind';
import { expect, test, vi } from 'vitest';
import { testServices } from '../endpoints/testing.ts';
import type { Resource } from './catalog.ts';
import { commitPut } from './commit.ts';
import type { WriteContext } from './context.ts';

test('facts of what a commit writes besides are handed on, so that nobody parses its values', async () => {
  const { services, catalog } = await testServices();
  const { registry } = services;
  const ctxOf = (plural: string, name: string): WriteContext =>
    ({
      resource: catalog.find('', 'v1', plural) as Resource,
      namespace: 'n',
      name,
      subresource: '',
      manager: '',
      user: { name: 'u' },
    }) as never;
  const objectOf = (name: string, resourceVersion?: string): ApiObject =>
    ({
      metadata: { name, namespace: 'n', uid: name, labels: { of: name }, ...(resourceVersion !== undefined && { resourceVersion }) },
    }) as never;
  const { revision } = await commitPut(registry, ctxOf('resourcequotas', 'q'), { object: objectOf('q'), expect: 0, created: 0 });
  const commit = vi.spyOn(registry.cache, 'commit');
  const sideWrites = [{ group: '', plural: 'resourcequotas', object: objectOf('q', String(revision)) }];
  for (const [name, steps] of [
    ['at-once', undefined],
    ['in-steps', [{ prepare: () => {}, settle: () => {} }]],
  ] as const) {
    const current = (catalog.find('', 'v1', 'resourcequotas') as Resource).collection?.items.get('n/q')?.revision ?? revision;
    const writes = sideWrites.map((write) => ({ ...write, object: objectOf('q', String(current)) }));
    await commitPut(registry, ctxOf('configmaps', name), {
      object: objectOf(name),
      expect: 0,
      created: 0,
      sideWrites: writes,
      steps: steps as never,
    });
    const [operations, facts] = commit.mock.lastCall as unknown as [unknown[], { labels: object; place: object }[]];
    expect([operations.length, facts.map(({ labels }) => labels)], name).toEqual([2, [{ of: name }, { of: 'q' }]]);
    expect(facts[1]?.place, name).toMatchObject({ key: 'n/q' });
  }
});
