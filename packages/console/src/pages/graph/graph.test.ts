import { expect, test } from 'vitest';
import type { Kind } from '../../api/kinds.ts';
import type { ApiObject } from '../../api/objects.ts';
import type { KindObjects } from '../../api/several-kinds.ts';
import { type Graph, graphOf } from './graph.ts';
import { graphSets } from './graph-kinds.ts';
import { GROUP_FROM, groupedGraph, type ShownGraph } from './groups.ts';
import { layoutOf, NODE_HEIGHT, NODE_WIDTH, neighbourOf } from './layout.ts';
import { narrowedGraph } from './narrow.ts';

const kindOf = (resource: string, kind: string, group = ''): Kind => ({
  group,
  version: 'v1',
  resource,
  kind,
  isNamespaced: true,
  shortNames: [],
  verbs: ['list', 'watch'],
  subresources: [],
});
const kinds = {
  deployment: kindOf('deployments', 'Deployment', 'apps'),
  set: kindOf('replicasets', 'ReplicaSet', 'apps'),
  pod: kindOf('pods', 'Pod'),
  service: kindOf('services', 'Service'),
  ingress: kindOf('ingresses', 'Ingress', 'networking.k8s.io'),
  claim: kindOf('persistentvolumeclaims', 'PersistentVolumeClaim'),
  scaler: kindOf('horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'autoscaling'),
};
const object = (name: string, more: object = {}, owner?: string, labels: Record<string, string> = {}): ApiObject =>
  ({
    metadata: { name, namespace: 'shop', uid: name, labels, ...(owner && { ownerReferences: [{ uid: owner, kind: 'x', name: owner }] }) },
    ...more,
  }) as unknown as ApiObject;
const content = (kind: Kind, ...objects: ApiObject[]): KindObjects => ({ kind, objects, isUnread: false, isTruncated: false });
const edges = ({ edges: all }: Graph | ShownGraph): string[] => all.map(({ from, relation, to }) => `${from} ${relation} ${to}`);

/** A deployment with so many pods, its service and ingress, and a claim of the first pod. */
function shop(pods: number): KindObjects[] {
  const volumes = [{ persistentVolumeClaim: { claimName: 'data' } }];
  const http = { paths: [{ backend: { service: { name: 'web-service' } } }] };
  return [
    content(kinds.deployment, object('web', { spec: { replicas: pods }, status: { readyReplicas: pods } })),
    content(
      kinds.set,
      object('web-2', { spec: { replicas: pods }, status: { replicas: pods } }, 'web'),
      object('web-1', { spec: { replicas: 0 }, status: { replicas: 0 } }, 'web'),
    ),
    content(
      kinds.pod,
      ...Array.from({ length: pods }, (_, i) => object(`web-2-${i}`, i === 0 ? { spec: { volumes } } : {}, 'web-2', { app: 'web' })),
      object('other', {}, undefined, { app: 'other' }),
    ),
    content(kinds.service, object('web-service', { spec: { selector: { app: 'web' } } }), object('headless', { spec: {} })),
    content(kinds.ingress, object('entry', { spec: { rules: [{ http }, { http }], defaultBackend: { service: { name: 'gone' } } } })),
    content(kinds.claim, object('data', { spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } })),
    content(kinds.scaler, object('scaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } } })),
  ];
}

test('owners, services, ingresses, claims and autoscalers are edges; earlier revisions are left out', () => {
  const graph = graphOf(shop(1));
  expect(edges(graph).sort()).toEqual([
    'data binds volume pv-1',
    'entry routes web-service',
    'scaler scales web',
    'web owns web-2',
    'web-2 owns web-2-0',
    'web-2-0 mounts data',
    'web-service selects web-2-0',
  ]);
  expect(graph.nodes.map(({ name }) => name)).not.toContain('web-1');
  expect(graph.nodes.find(({ name }) => name === 'web')?.state).toEqual({ text: '1 of 1 ready', tone: 'good' });
});

test('replicas of one owner are one node until it is opened; what is special stays', () => {
  const graph = graphOf(shop(GROUP_FROM + 1));
  const shown = groupedGraph(graph, new Set());
  const group = shown.nodes.find(({ members }) => members.length > 1);
  expect(group?.members.map(({ name }) => name)).toEqual(['web-2-0', 'web-2-1', 'web-2-2', 'web-2-3', 'web-2-4']);
  expect(edges(shown)).toContain(`web-2 owns ${group?.id}`);
  // The claim belongs to a pod of the group alone.
  expect(shown.nodes.map(({ id }) => id)).not.toContain('data');
  const opened = groupedGraph(graph, new Set([group?.id ?? '']));
  expect(opened.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['web-2-4', 'data', 'volume pv-1']));
  expect(groupedGraph(graphOf(shop(GROUP_FROM - 1)), new Set()).nodes.every(({ members }) => members.length === 1)).toBe(true);
});

test('owners in a circle are drawn', () => {
  const circle = [content(kinds.pod, object('a', {}, 'b'), object('b', {}, 'a'))];
  const shown = groupedGraph(graphOf(circle), new Set());
  expect(edges(shown).sort()).toEqual(['a owns b', 'b owns a']);
  expect(layoutOf({ ids: ['a', 'b'], edges: shown.edges }, 1).nodes.size).toBe(2);
});

test('a filter keeps what belongs to a match, above and below', () => {
  const graph = graphOf(shop(2));
  const named = (filter: Partial<Parameters<typeof narrowedGraph>[1]>): string[] =>
    narrowedGraph(graph, { text: '', hiddenKinds: new Set(), isProblem: false, ...filter })
      .nodes.map(({ name }) => name)
      .sort();
  expect(named({ text: 'WEB-2-1' })).toEqual(['entry', 'scaler', 'web', 'web-2', 'web-2-1', 'web-service']);
  expect(named({ hiddenKinds: new Set(['pods', 'services', 'ingresses.networking.k8s.io']) })).toEqual([
    'data',
    'pv-1',
    'scaler',
    'web',
    'web-2',
  ]);
  // Pods without a status are not ready.
  expect(named({ isProblem: true })).not.toContain('headless');
});

test('300 objects of fifty deployments are placed beside each other without overlap', () => {
  const parts = Array.from({ length: 50 }, (_, i) => [`d${i}`, `s${i}`, `a${i}`, `b${i}`, `c${i}`, `e${i}`]);
  const relation = 'owns' as const;
  const graph = {
    ids: parts.flat(),
    edges: parts.flatMap(([d, s, ...pods]) => [
      { from: d as string, to: s as string, relation },
      ...pods.map((to) => ({ from: s as string, to, relation })),
    ]),
  };
  const { nodes, width, height } = layoutOf(graph, 2);
  expect(nodes.size).toBe(300);
  const places = [...nodes.values()];
  const overlapping = places.filter((one) =>
    places.some((other) => other !== one && Math.abs(one.x - other.x) < NODE_WIDTH && Math.abs(one.y - other.y) < NODE_HEIGHT),
  );
  expect(overlapping).toEqual([]);
  expect(Math.max(width / height, height / width)).toBeLessThan(4);
});

test('arrow keys lead to the nearest node in a direction', () => {
  const nodes = new Map([
    ['a', { x: 0, y: 0 }],
    ['below', { x: 10, y: 100 }],
    ['right', { x: 300, y: 20 }],
  ]);
  expect(neighbourOf(nodes, 'a', { x: 1, y: 0 })).toBe('right');
  expect(neighbourOf(nodes, 'a', { x: 0, y: 1 })).toBe('below');
  expect(neighbourOf(nodes, 'a', { x: -1, y: 0 })).toBeUndefined();
});

test('of custom kinds metadata is read, and no more kinds than a connection has watches for', () => {
  const custom = Array.from({ length: 100 }, (_, i) => kindOf(`things${i}`, 'Thing', 'example.com'));
  const sets = graphSets([...Object.values(kinds), kindOf('leases', 'Lease', 'coordination.k8s.io'), ...custom]);
  expect(sets.length).toBe(7 + 30);
  expect(sets.filter(({ isMetadataOnly }) => isMetadataOnly).every(({ kind }) => kind.group === 'example.com')).toBe(true);
});
