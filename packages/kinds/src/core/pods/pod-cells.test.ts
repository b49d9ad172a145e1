import { expect, test } from 'vitest';
import { create, type Loose, testEnv } from '../../validation/kinds.testing.ts';
import { PodKind } from './pod.ts';
import { podCells } from './pod-cells.ts';
import { podGracePeriod } from './pod-strategy.ts';

const running = { running: {} };
const container = (fields: Loose): Loose => ({
  name: 'c',
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  lastState: {},
  state: {},
  ...fields,
});
function row(status: Loose, spec: Loose = {}, metadata: Loose = {}): Loose[] {
  const { object } = create(PodKind, {
    metadata: { name: 'p' },
    spec: {
      containers: [
        { name: 'c', image: 'i' },
        { name: 'd', image: 'i' },
      ],
      ...spec,
    },
  });
  object.status = { ...object.status, ...status };
  Object.assign(object.metadata, metadata);
  return podCells(object, testEnv);
}
/** Ready, status, restarts. */
const word = (...args: Parameters<typeof row>): Loose[] => row(...args).slice(1, 4);

test('a new pod', () => {
  expect(row({})).toEqual(['p', '0/2', 'Pending', '0', '27h', '<none>', '<none>', '<none>', '<none>']);
});

test('where it is and what it waits for', () => {
  const status = { phase: 'Running', podIPs: [{ ip: '10.9.9.9' }], nominatedNodeName: 'nom', conditions: [{ type: 'g', status: 'True' }] };
  const spec = { nodeName: 'n', readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }] };
  expect(row(status, spec).slice(5)).toEqual(['10.9.9.9', 'n', 'nom', '1/2']);
});

test.each<[string, Loose, Loose[]]>([
  [
    'crashing',
    {
      phase: 'Running',
      containerStatuses: [
        container({ restartCount: 5, state: { waiting: { reason: 'CrashLoopBackOff' } } }),
        container({ ready: true, restartCount: 2, state: running }),
      ],
    },
    ['1/2', 'CrashLoopBackOff', '7'],
  ],
  [
    'done',
    { phase: 'Succeeded', containerStatuses: [container({ state: { terminated: { exitCode: 0, reason: 'Completed' } } })] },
    ['0/2', 'Completed', '0'],
  ],
  ['failed', { phase: 'Failed', containerStatuses: [container({ state: { terminated: { exitCode: 7 } } })] }, ['0/2', 'ExitCode:7', '0']],
  [
    'killed',
    { phase: 'Failed', containerStatuses: [container({ state: { terminated: { exitCode: 137, signal: 9 } } })] },
    ['0/2', 'Signal:9', '0'],
  ],
  ['evicted', { phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', '0']],
  [
    'half done',
    {
      phase: 'Running',
      containerStatuses: [
        container({ state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
        container({ ready: true, state: running }),
      ],
    },
    ['1/2', 'NotReady', '0'],
  ],
  [
    'half done and ready',
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        container({ state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
        container({ ready: true, state: running }),
      ],
    },
    ['1/2', 'Running', '0'],
  ],
  [
    'started again',
    {
      phase: 'Running',
      containerStatuses: [
        container({
          ready: true,
          restartCount: 1,
          state: running,
          lastState: { terminated: { exitCode: 1, finishedAt: '2024-01-02T03:03:05Z' } },
        }),
      ],
    },
    ['1/2', 'Running', '1 (60s ago)'],
  ],
  [
    'initializing',
    { phase: 'Pending', initContainerStatuses: [container({ state: { terminated: { exitCode: 0 } } }), container({ state: running })] },
    ['0/2', 'Init:1/2', '0'],
  ],
  [
    'init image',
    { phase: 'Pending', initContainerStatuses: [container({ restartCount: 3, state: { waiting: { reason: 'ImagePullBackOff' } } })] },
    ['0/2', 'Init:ImagePullBackOff', '3'],
  ],
  [
    'init failed',
    { phase: 'Pending', initContainerStatuses: [container({ state: { terminated: { exitCode: 3 } } })] },
    ['0/2', 'Init:ExitCode:3', '0'],
  ],
])('%s', (_name, status, expected) => {
  expect(
    word(status, {
      initContainers: [
        { name: 'i', image: 'i' },
        { name: 'j', image: 'i' },
      ],
    }),
  ).toEqual(expected);
});

test('on its way out', () => {
  const metadata = { deletionTimestamp: '2024-01-02T03:04:05Z' };
  expect(row({ phase: 'Running' }, {}, metadata)[2]).toBe('Terminating');
  expect(row({ phase: 'Running', reason: 'NodeLost' }, {}, metadata)[2]).toBe('Unknown');
});

test('a pod is given time only where something runs', () => {
  const grace = (spec: Loose, phase: string, requested?: number) => podGracePeriod({ metadata: {}, spec, status: { phase } }, requested);
  expect(grace({ terminationGracePeriodSeconds: 30 }, 'Pending', 5)).toBe(0);
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Succeeded')).toBe(0);
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running')).toBe(30);
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running', 45)).toBe(45);
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: -1 }, 'Running')).toBe(1);
});
