import type { FlowSchema } from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Change, LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import { expect, test } from 'vitest';
import { keepFlowStatus } from './flow-status.ts';

/** A collection that a test fills. */
function fakeLive() {
  const objects = new Map<string, ApiObject>();
  const listeners = new Set<(change: Change<ApiObject>) => void>();
  const live: LiveView = {
    get: (_namespace, name) => objects.get(name),
    list: () => [...objects.values()],
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    generation: 0,
    look: () => undefined,
    whenLoaded: (call) => call(),
  };
  const put = (object: ApiObject): void => {
    objects.set(object.metadata.name ?? '', object);
    for (const listener of listeners) listener({ type: 'modified', key: object.metadata.name ?? '', object, old: undefined });
  };
  return { live, put, objects, listeners };
}

const schema = (name: string, level: string): FlowSchema => ({
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: level }, matchingPrecedence: 1000 },
  status: {},
});

function world() {
  const schemas = fakeLive();
  const levels = fakeLive();
  const live = ((_group: string, plural: string) => (plural === 'flowschemas' ? schemas.live : levels.live)) as LiveSource;
  const faults: unknown[] = [];
  const end = keepFlowStatus({
    live,
    changeStatus: async (name, change) => {
      const object = structuredClone(schemas.objects.get(name)) as FlowSchema;
      change(object);
      schemas.put(object);
    },
    now: () => 1_700_000_000_000,
    report: (error) => faults.push(error),
  });
  const condition = (name: string) => (schemas.objects.get(name) as FlowSchema).status.conditions?.[0];
  return { schemas, levels, end, faults, condition };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a schema whose level is missing dangles until there is one', async () => {
  const { schemas, levels, condition, faults } = world();
  schemas.put(schema('mine', 'none'));
  await settled();
  expect(condition('mine')).toMatchObject({ type: 'Dangling', status: 'True', reason: 'NotFound' });
  levels.put({ metadata: { name: 'none' } });
  await settled();
  expect(condition('mine')).toMatchObject({ status: 'False', reason: 'Found' });
  expect(faults).toEqual([]);
});

test('a status that is right is not written again', async () => {
  const { schemas, condition } = world();
  schemas.put(schema('mine', 'none'));
  await settled();
  const told = condition('mine');
  schemas.put(schemas.objects.get('mine') as ApiObject);
  await settled();
  expect(condition('mine')).toBe(told);
});

test('nothing is written after the end', async () => {
  const { schemas, end, condition } = world();
  end();
  schemas.put(schema('mine', 'none'));
  await settled();
  expect(condition('mine')).toBeUndefined();
  expect(schemas.listeners.size).toBe(0);
});
