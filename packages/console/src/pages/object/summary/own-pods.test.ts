import { expect, test } from 'vitest';
import type { Kind } from '../../../api/kinds.ts';
import { podLine, podLines, podSelector } from './own-pods.ts';

const kind = (group: string, resource: string): Kind => ({ group, resource }) as Kind;

test('selectors of services and of workloads', () => {
  expect(podSelector(kind('', 'services'), { spec: { selector: { app: 'web', tier: 'a' } } })).toBe('app=web,tier=a');
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'old', operator: 'DoesNotExist' },
    { key: 'x', operator: 'constructor' },
  ];
  const spec = { selector: { matchLabels: { app: 'web' }, matchExpressions } };
  expect(podSelector(kind('apps', 'deployments'), { spec })).toBe('app=web,tier in (a,b),!old');
  expect(podSelector(kind('', 'services'), { spec: {} })).toBe('');
  expect(podSelector(kind('policy', 'poddisruptionbudgets'), { spec })).toBe('');
});

test('a pod that is not ready says why', () => {
  const crashed = {
    metadata: { name: 'mail' },
    spec: { containers: [{ name: 'mail' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'mail',
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
          lastState: { terminated: { reason: 'Error', exitCode: 1 } },
        },
      ],
    },
  };
  expect(podLine(crashed)).toEqual({
    name: 'mail',
    state: 'CrashLoopBackOff',
    isReady: false,
    restarts: 3,
    message: 'back-off 40s Last run of mail: Error, exit code 1.',
  });
  const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
  expect(podLine({ status: { phase: 'Pending', conditions } }).message).toBe('0/3 nodes are available');
});

test('those that are not ready come first', () => {
  const ready = { metadata: { name: 'a' }, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  const pending = { metadata: { name: 'b' }, status: { phase: 'Pending' } };
  expect(podLines([ready, pending]).map(({ name }) => name)).toEqual(['b', 'a']);
});
