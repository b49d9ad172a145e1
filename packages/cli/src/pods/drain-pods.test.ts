import { expect, test } from 'vitest';
import { type DrainedPod, type DrainRules, planDrain } from './drain-pods.ts';

const now = Date.parse('2024-01-01T00:10:00Z');
const rules = (changes: Partial<DrainRules> = {}): DrainRules => ({
  force: false,
  ignoreDaemonsets: false,
  deleteEmptydirData: false,
  skipWaitForDeleteTimeout: 0,
  now,
  daemonSetProblem: () => undefined,
  ...changes,
});
const owner = (kind: string) => ({ ownerReferences: [{ kind, name: 'o', controller: true }] });
const pod = (name: string, metadata: object = owner('ReplicaSet'), more: object = {}): DrainedPod => ({
  metadata: { name, namespace: 'n', uid: name, ...metadata },
  ...more,
});
const names = (pods: readonly DrainedPod[]): string[] => pods.map(({ metadata }) => metadata.name);

test('pods of controllers go', () => {
  const plan = planDrain([pod('a'), pod('b', owner('Job'))], rules());
  expect([names(plan.pods), plan.warnings, plan.errors]).toEqual([['a', 'b'], [], []]);
});

test('pods of daemon sets stay; without the flag they are an error', () => {
  const pods = [
    pod('a', owner('DaemonSet')),
    pod('b', owner('DaemonSet')),
    pod('done', owner('DaemonSet'), { status: { phase: 'Failed' } }),
  ];
  expect(planDrain(pods, rules()).errors).toEqual(['cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): n/a, n/b']);
  const plan = planDrain(pods, rules({ ignoreDaemonsets: true }));
  expect([names(plan.pods), plan.warnings]).toEqual([['done'], ['ignoring DaemonSet-managed Pods: n/a, n/b']]);
});

test('pods whose daemon set is gone go by force', () => {
  const daemonSetProblem = () => ({ isGone: true, message: 'daemonsets.apps "o" not found' });
  const pods = [pod('a', owner('DaemonSet'))];
  expect(planDrain(pods, rules({ daemonSetProblem, ignoreDaemonsets: true })).errors).toHaveLength(1);
  expect(names(planDrain(pods, rules({ daemonSetProblem, force: true })).pods)).toEqual(['a']);
});

test('pods without a controller and pods with local data need a flag each', () => {
  const bare = pod('bare', {});
  const local = pod('local', owner('ReplicaSet'), { spec: { volumes: [{ emptyDir: {} }] } });
  expect(planDrain([bare, local], rules()).errors).toEqual([
    'cannot delete Pods declare no controller (use --force to override): n/bare',
    'cannot delete Pods with local storage (use --delete-emptydir-data to override): n/local',
  ]);
  const plan = planDrain([bare, local], rules({ force: true, deleteEmptydirData: true }));
  expect(names(plan.pods)).toEqual(['bare', 'local']);
  expect(plan.warnings).toEqual(['deleting Pods that declare no controller: n/bare']);
  expect(names(planDrain([pod('done', {}, { status: { phase: 'Succeeded' } })], rules()).pods)).toEqual(['done']);
});

test('mirror pods and pods that were deleted long ago are skipped', () => {
  const mirror = pod('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  const deleted = (at: string): DrainedPod => pod('old', { ...owner('ReplicaSet'), deletionTimestamp: at });
  expect(planDrain([mirror], rules())).toEqual({ pods: [], warnings: [], errors: [] });
  const at = (seconds: number) => rules({ skipWaitForDeleteTimeout: seconds });
  expect(names(planDrain([deleted('2024-01-01T00:09:00Z')], at(60)).pods)).toEqual(['old']);
  expect(names(planDrain([deleted('2024-01-01T00:08:59Z')], at(60)).pods)).toEqual([]);
  expect(names(planDrain([deleted('2024-01-01T00:00:00Z')], at(0)).pods)).toEqual(['old']);
});
