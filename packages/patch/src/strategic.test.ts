import { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import { ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import { PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import { Service } from '@plat-dev/kinds/core/schema/service';
import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { readStrategicPatch } from './strategic.ts';

const patch = (type: MessageType, document: unknown, body: unknown): Record<string, JsonValue> => {
  const before = JSON.stringify(document);
  const result = readStrategicPatch(type, typeof body === 'string' ? body : jsonText(body))(document as JsonValue);
  expect(JSON.stringify(document)).toBe(before);
  return result as Record<string, JsonValue>;
};
function refusal(type: MessageType, document: unknown, body: unknown): [number, string] {
  try {
    patch(type, document, body);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.message];
    throw error;
  }
  return [0, ''];
}

const pod = {
  containers: [
    {
      name: 'main',
      image: 'main:1',
      args: ['--x'],
      env: [
        { name: 'ONE', value: '1' },
        { name: 'TWO', value: '2' },
      ],
    },
    { name: 'aide', image: 'aide:1' },
  ],
  volumes: [{ name: 'tmp', emptyDir: {} }],
};

test('containers are merged by name, new ones come last', () => {
  expect(
    patch(PodSpec, pod, {
      containers: [
        { name: 'aide', image: 'aide:2' },
        { name: 'third', image: 'third:1' },
      ],
    }).containers,
  ).toEqual([pod.containers[0], { name: 'aide', image: 'aide:2' }, { name: 'third', image: 'third:1' }]);
});

test('items of a patch stand in its order, others where they stood', () => {
  expect(patch(PodSpec, { imagePullSecrets: [{ name: 'one' }] }, { imagePullSecrets: [{ name: 'two' }] }).imagePullSecrets).toEqual([
    { name: 'two' },
    { name: 'one' },
  ]);
  const mounts = { containers: [{ name: 'c', volumeMounts: [{ mountPath: '/tmp', name: 'tmp' }] }] };
  expect(
    patch(PodSpec, mounts, {
      containers: [
        {
          name: 'c',
          volumeMounts: [
            { mountPath: '/conf', name: 'conf' },
            { mountPath: '/tmp', subPath: 's' },
          ],
        },
      ],
    }),
  ).toEqual({
    containers: [
      {
        name: 'c',
        volumeMounts: [
          { mountPath: '/conf', name: 'conf' },
          { mountPath: '/tmp', name: 'tmp', subPath: 's' },
        ],
      },
    ],
  });
});

test('null removes, plain lists are replaced, absent parents are made', () => {
  expect(patch(PodSpec, pod, { containers: [{ name: 'main', args: ['--y', '--z'], env: null }] }).containers).toEqual([
    { name: 'main', image: 'main:1', args: ['--y', '--z'] },
    pod.containers[1],
  ]);
  expect(patch(PodSpec, {}, { nodeSelector: { a: 'b', c: null }, securityContext: { runAsUser: 1, seLinuxOptions: null } })).toEqual({
    nodeSelector: { a: 'b' },
    securityContext: { runAsUser: 1 },
  });
});

test('$patch deletes and replaces items, lists and maps', () => {
  expect(
    patch(PodSpec, pod, {
      containers: [
        { name: 'aide', $patch: 'delete' },
        { name: 'none', $patch: 'delete' },
      ],
    }).containers,
  ).toEqual([pod.containers[0]]);
  expect(patch(PodSpec, pod, { containers: [{ $patch: 'replace' }, { name: 'new', image: 'new:1' }] }).containers).toEqual([
    { name: 'new', image: 'new:1' },
  ]);
  expect(patch(PodSpec, pod, { containers: [{ $patch: 'replace' }] }).containers).toEqual([]);
  expect(patch(PodSpec, { nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'replace', b: '2' } })).toEqual({
    nodeSelector: { b: '2' },
  });
  expect(patch(PodSpec, { nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'delete' } })).toEqual({ nodeSelector: {} });
  expect(patch(PodSpec, {}, { nodeSelector: { $patch: 'replace', b: '2' } })).toEqual({ nodeSelector: { b: '2' } });
});

test('$setElementOrder arranges a list, with or without a change to it', () => {
  const named = (...names: string[]): object => ({ containers: names.map((name) => ({ name })) });
  const order = (...names: string[]): object => ({ '$setElementOrder/containers': names.map((name) => ({ name })) });
  expect(patch(PodSpec, named('main', 'aide'), { ...order('aide', 'new', 'main'), ...named('new') })).toEqual(named('aide', 'new', 'main'));
  expect(patch(PodSpec, named('aide', 'new', 'main'), order('main', 'aide'))).toEqual(named('new', 'main', 'aide'));
  expect(refusal(PodSpec, named('main'), { ...order('main'), containers: [{ name: 'aide', image: 'x' }] })).toEqual([
    400,
    "The order in patch list:\n[map[image:x name:aide]]\n doesn't match $setElementOrder list:\n[map[name:main]]\n",
  ]);
  expect(refusal(PodSpec, {}, { '$setElementOrder/': [] })[0]).toBe(400);
  expect(refusal(PodSpec, {}, { '$setElementOrder/containers': 'x' })[0]).toBe(400);
});

test('with $setElementOrder an added item takes the place that a deleted one left', () => {
  const ports = (...numbers: number[]) => numbers.map((port) => ({ port }));
  const inOrder = (live: number[], deleted: number[], added: number[], order: number[]): unknown =>
    (
      patch(
        Service,
        { spec: { ports: ports(...live) } },
        {
          spec: {
            '$setElementOrder/ports': ports(...order),
            ports: [...ports(...added), ...deleted.map((port) => ({ port, $patch: 'delete' }))],
          },
        },
      ).spec as { ports: { port: number }[] }
    ).ports.map(({ port }) => port);
  expect(inOrder([99, 81], [81], [82], [82])).toEqual([99, 82]);
  expect(inOrder([81, 99], [81], [82], [82])).toEqual([99, 82]);
  expect(inOrder([99, 81], [81], [83, 82], [83, 82])).toEqual([99, 83, 82]);
  expect(inOrder([81, 82, 99], [81], [83], [83, 82])).toEqual([99, 83, 82]);
  // Nothing was deleted: what is new has no place, and comes first.
  expect(inOrder([99], [], [82], [82])).toEqual([82, 99]);
});

/**
 * The order of a stock server, by a row of places as long as the list was. A deletion moves up what follows; an added item takes the
 * first place that is free, or none. Each item that the order does not name then goes before the first named item with a later
 * place, searched from the last one that was put in.
 */
function stockOrder(live: readonly string[], deleted: readonly string[], added: readonly string[], order: readonly string[]): string[] {
  const row = [...live];
  let used = row.length;
  for (const name of deleted) {
    const at = row.slice(0, used).indexOf(name);
    if (at >= 0) row.copyWithin(at, at + 1, used--);
  }
  const kept = row.slice(0, used);
  const present = [...kept];
  for (const name of added) {
    if (present.includes(name)) continue;
    if (present.length < row.length) row[present.length] = name;
    present.push(name);
  }
  const result = order.filter((name) => present.includes(name));
  let from = 0;
  for (const name of kept.filter((one) => !order.includes(one))) {
    const later = result.findIndex((other, at) => at >= from && row.indexOf(other) > row.indexOf(name));
    result.splice(later < 0 ? result.length : later, 0, name);
    from = (later < 0 ? result.length - 1 : later) + 1;
  }
  return result;
}

test('the order of a list with $setElementOrder is that of a stock server', () => {
  const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 });
  fc.assert(
    fc.property(names, names, names, names, (live, deleted, order, changed) => {
      const added = order.filter((name) => changed.includes(name));
      const body = {
        '$setElementOrder/containers': order.map((name) => ({ name })),
        containers: [...deleted.map((name) => ({ name, $patch: 'delete' })), ...added.map((name) => ({ name, image: 'x' }))],
      };
      const { containers } = patch(PodSpec, { containers: live.map((name) => ({ name })) }, body) as { containers: { name: string }[] };
      expect(containers.map(({ name }) => name)).toEqual(stockOrder(live, deleted, added, order));
    }),
    { numRuns: rounds(1000) },
  );
});

test('$retainKeys clears the other members of a union', () => {
  const live = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
  expect(patch(Deployment, live, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } })).toEqual({
    spec: { strategy: { type: 'Recreate' } },
  });
  expect(refusal(Deployment, live, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: {} } } })).toEqual([
    400,
    'invalid patch format of retainKeys',
  ]);
  expect(patch(PodSpec, pod, { volumes: [{ name: 'tmp', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }).volumes).toEqual([
    { name: 'tmp', hostPath: { path: '/x' } },
  ]);
});

test('lists of plain values are merged as sets, and shrink by $deleteFromPrimitiveList', () => {
  const live = { metadata: { finalizers: ['a/x', 'a/y'] } };
  expect(patch(ServiceAccount, live, { metadata: { finalizers: ['a/z', 'a/y'] } })).toEqual({
    metadata: { finalizers: ['a/z', 'a/x', 'a/y'] },
  });
  expect(patch(ServiceAccount, live, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/x', 'none'] } })).toEqual({
    metadata: { finalizers: ['a/y'] },
  });
  expect(patch(ServiceAccount, {}, { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } })).toEqual({ metadata: {} });
});

test('of items that share the merge key, the first is changed', () => {
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  expect(patch(Service, { spec: { ports } }, { spec: { ports: [{ port: 53, targetPort: 5353 }] } })).toEqual({
    spec: { ports: [{ ...ports[0], targetPort: 5353 }, ports[1]] },
  });
});

test('mistakes in the patch', () => {
  expect(refusal(PodSpec, pod, { containers: [{ image: 'nameless' }] })).toEqual([
    400,
    'map: map[image:nameless] does not contain declared merge key: name',
  ]);
  expect(refusal(PodSpec, pod, { containers: [{ name: 'main', $patch: 'explode' }] })).toEqual([
    400,
    'unknown patch type: explode in map: map[$patch:explode name:main]',
  ]);
  expect(refusal(PodSpec, pod, { volumes: [{ $patch: 'merge', name: 'tmp' }] })).toEqual([
    400,
    'merging lists cannot yet be specified in the patch',
  ]);
  expect(refusal(PodSpec, pod, { containers: [['x']] })[0]).toBe(422);
  expect(refusal(PodSpec, pod, { containers: [5] })[0]).toBe(400);
  expect(refusal(PodSpec, pod, '{"data":')).toEqual([400, 'unexpected end of JSON input']);
  expect(refusal(PodSpec, pod, [])[0]).toBe(400);
  expect(patch(PodSpec, pod, { containers: { name: 'main' } }).containers).toEqual({ name: 'main' });
});

test('no key reaches a prototype', () => {
  const result = patch(PodSpec, { nodeSelector: {} }, '{"nodeSelector":{"__proto__":{"polluted":"1"}},"__proto__":{"polluted":"1"}}');
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  expect(Object.hasOwn(result, '__proto__')).toBe(true);
});

test('great lists are merged in good time', () => {
  const items = (from: number): object[] => Array.from({ length: 20_000 }, (_, i) => ({ name: `c${from + i}` }));
  const result = patch(PodSpec, { containers: items(0) }, { containers: items(10_000) });
  expect((result.containers as unknown[]).length).toBe(30_000);
});

// ---- against an independent reading of the rules -----------------------------------------------------------------

type Named = { name: string; image?: string | null; $patch?: string };

/** Merges by name; order is left out of account. */
function naive(live: readonly Named[], change: readonly Named[]): Map<string, string | undefined> {
  const images = new Map(live.map((item) => [item.name, item.image ?? undefined] as const));
  for (const item of change) if (item.$patch === 'delete') images.delete(item.name);
  for (const item of change) {
    if (item.$patch === 'delete') continue;
    const before = images.get(item.name);
    images.set(item.name, item.image === null ? undefined : (item.image ?? before));
  }
  return images;
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const image = fc.constantFrom('1', '2', '3');
const liveItems = fc.uniqueArray(fc.record({ name, image }), { selector: (item) => item.name });
const changes = fc.uniqueArray(fc.oneof(fc.record({ name, image: fc.option(image) }), fc.record({ name, $patch: fc.constant('delete') })), {
  selector: (item) => item.name,
});

test('agrees with a plain merge by name; keeps the order of the patch and of the rest', () => {
  fc.assert(
    fc.property(liveItems, changes, (live, change) => {
      const result = (patch(PodSpec, { containers: live }, { containers: change }).containers ?? []) as Named[];
      expect(new Map(result.map((item) => [item.name, item.image ?? undefined]))).toEqual(naive(live, change));
      const order = result.map((item) => item.name);
      const wanted: string[] = change.filter((item) => !('$patch' in item)).map((item) => item.name);
      expect(order.filter((one) => wanted.includes(one))).toEqual(wanted);
      const rest = order.filter((one) => !wanted.includes(one));
      expect(live.map((item): string => item.name).filter((one) => rest.includes(one))).toEqual(rest);
      expect(patch(PodSpec, { containers: result as never }, { containers: change }).containers ?? []).toEqual(result);
    }),
  );
});

test('long lists are merged in steps', () => {
  const named = (image: string) => Array.from({ length: 5000 }, (_, i) => ({ name: `c${i}`, image }));
  for (const body of [
    { containers: named('two') },
    { '$setElementOrder/containers': named('two').map(({ name }) => ({ name })), containers: named('two') },
  ]) {
    const { patched } = readStrategicPatch(PodSpec, JSON.stringify(body));
    const work = patched({ containers: named('one') });
    let yields = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) yields++;
    expect(step.value).toEqual({ containers: named('two') });
    expect(yields).toBeGreaterThanOrEqual(19);
  }
});

test('large values without a counterpart are copied in steps', () => {
  const env = Array.from({ length: 5000 }, (_, i) => ({ name: `e${i}` }));
  const { patched } = readStrategicPatch(PodSpec, JSON.stringify({ containers: [{ name: 'c', env }] }));
  expect([...patched({})].length).toBeGreaterThanOrEqual(9);
  expect(atOnce(patched({}))).toEqual({ containers: [{ name: 'c', env }] });
});

test('later releases drop what has a directive and no counterpart', () => {
  const later = { dropsDirectives: true, checksRoot: true, refusesLists: true };
  const body = jsonText({
    nodeSelector: { $patch: 'explode', a: 'b' },
    containers: [{ name: 'main', securityContext: { $patch: 'replace', privileged: true } }],
    tolerations: [{ $patch: 'replace' }, { key: 'k' }],
  });
  const document = { containers: [{ name: 'main' }] };
  expect(readStrategicPatch(PodSpec, body, later)(document)).toEqual({ containers: [{ name: 'main' }], tolerations: [{ key: 'k' }] });
  expect(readStrategicPatch(PodSpec, body)(document)).toMatchObject({
    nodeSelector: { $patch: 'explode', a: 'b' },
    containers: [{ name: 'main', securityContext: { privileged: true } }],
  });
});
