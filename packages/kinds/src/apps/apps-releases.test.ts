/** Rules of workloads, autoscalers and budgets that came with later releases. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { HorizontalPodAutoscalerKind } from '../autoscaling/horizontal-pod-autoscaler.ts';
import { PodDisruptionBudgetKind } from '../policy/pod-disruption-budget.ts';
import { create, inRelease, type Loose, update } from '../validation/kinds.testing.ts';
import { ControllerRevisionKind } from './controller-revision.ts';
import { StatefulSetKind } from './stateful-set.ts';

const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ').slice(0, 2).join(' '));
const set = (spec: Loose = {}, name = 's'): Loose => ({
  metadata: { name },
  spec: {
    serviceName: 's',
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});
const errorsOf = (body: Loose, release: ApiRelease): string[] => fields(create(StatefulSetKind, body, inRelease(release)).errors);

test.each<[string, Loose, ApiRelease, string[]]>([
  ['a name with dots', set({}, 'a.b'), '1.26', []],
  ['a name with dots', set({}, 'a.b'), '1.27', ['metadata.name Invalid']],
  ['a negative ordinal', set({ ordinals: { start: -1 } }), '1.27', ['spec.ordinals.start Invalid']],
  ['an odd service', set({ serviceName: 'A_B' }), '1.32', []],
  ['an odd service', set({ serviceName: 'A_B' }), '1.33', ['spec.serviceName Invalid']],
  ['no containers', set({ template: { metadata: { labels: { a: 'b' } }, spec: { containers: [] } } }), '1.33', []],
  [
    'no containers',
    set({ template: { metadata: { labels: { a: 'b' } }, spec: { containers: [] } } }),
    '1.34',
    ['spec.template.spec.containers Required'],
  ],
  [
    'bad claims',
    set({ volumeClaimTemplates: [{ metadata: { name: 'c' }, spec: {} }] }),
    '1.34',
    ['spec.volumeClaimTemplates[0].spec.accessModes Required', 'spec.volumeClaimTemplates[0].spec.resources[storage] Required'],
  ],
])('a stateful set of %s (%#)', (_name, body, release, errors) => {
  expect(errorsOf(body, release)).toEqual(errors);
});

test('mounts of claims are volumes of the pods', () => {
  const mounted = { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/d' }] }] };
  const claims = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }];
  const template = { metadata: { labels: { a: 'b' } }, spec: mounted };
  expect(errorsOf(set({ template, volumeClaimTemplates: claims }), '1.34')).toEqual([]);
  expect(errorsOf(set({ template }), '1.34')).toEqual(['spec.template.spec.containers[0].volumeMounts[0].name NotFound']);
});

test('what may change in a stateful set', () => {
  const stored = create(StatefulSetKind, set(), inRelease('1.36')).object;
  const change = (spec: Loose, release: ApiRelease): string[] =>
    fields(update(StatefulSetKind, stored, (o) => Object.assign(o.spec, spec), '', inRelease(release)).errors);
  expect(change({ revisionHistoryLimit: 3 }, '1.32')).toEqual(['spec Forbidden']);
  expect(change({ revisionHistoryLimit: 3 }, '1.33')).toEqual([]);
  expect(change({ ordinals: { start: 3 } }, '1.27')).toEqual([]);
  expect(create(StatefulSetKind, set({ revisionHistoryLimit: -1 }), inRelease('1.33')).warnings).toHaveLength(1);
});

test('data of a revision is an object since 1.31', () => {
  const errors = (data: Loose, release: ApiRelease): string[] =>
    fields(create(ControllerRevisionKind, { revision: 1, data }, inRelease(release)).errors);
  expect(errors({ a: 1 }, '1.31')).toEqual([]);
  expect(errors([1], '1.31')).toEqual(['data Required']);
});

test('unhealthy pods of a budget since 1.27', () => {
  const body = { spec: { selector: {}, unhealthyPodEvictionPolicy: 'Odd' } };
  expect(create(PodDisruptionBudgetKind, body, inRelease('1.26'))).toMatchObject({ errors: [], object: { spec: { selector: {} } } });
  expect(fields(create(PodDisruptionBudgetKind, body, inRelease('1.27')).errors)).toEqual(['spec.unhealthyPodEvictionPolicy NotSupported']);
});

const autoscaler = (spec: Loose = {}, target: Loose = {}): Loose => ({
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', ...target }, ...spec },
});
test.each<[Loose, ApiRelease, string[]]>([
  [autoscaler({}, { apiVersion: '' }), '1.33', []],
  [autoscaler({}, { apiVersion: '' }), '1.34', ['spec.scaleTargetRef.apiVersion Invalid']],
  [autoscaler({}, { apiVersion: 'v1', kind: 'ReplicationController' }), '1.34', []],
  [autoscaler({}, { apiVersion: 'a/b/c' }), '1.34', ['spec.scaleTargetRef.apiVersion Invalid']],
  [autoscaler({ maxReplicas: 0 }), '1.35', ['spec.maxReplicas Invalid', 'spec.maxReplicas Invalid']],
  [autoscaler({ maxReplicas: 0 }), '1.36', ['spec.maxReplicas Required', 'spec.maxReplicas Invalid']],
  [autoscaler({ behavior: { scaleUp: { tolerance: '-1' } } }), '1.35', ['spec.behavior.scaleUp.tolerance Invalid']],
  [autoscaler({ behavior: { scaleUp: { tolerance: '-1' } } }), '1.34', []],
])('autoscalers (%#)', (body, release, errors) => {
  expect(fields(create(HorizontalPodAutoscalerKind, body, inRelease(release)).errors)).toEqual(errors);
});
test('a stored target stays, whatever it is', () => {
  const stored = create(HorizontalPodAutoscalerKind, autoscaler({}, { apiVersion: '' }), inRelease('1.33')).object;
  expect(
    update(HorizontalPodAutoscalerKind, stored, (o) => Object.assign(o.spec, { maxReplicas: 5 }), '', inRelease('1.34')).errors,
  ).toEqual([]);
});
