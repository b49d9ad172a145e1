import { expect, test } from 'vitest';
import { statusOf } from './status.ts';

test.each([
  [
    '/Pod',
    { spec: { containers: [{}, {}] }, status: { phase: 'Running', containerStatuses: [{ ready: true }, { ready: false }] } },
    '1/2',
    'Running',
  ],
  [
    '/Pod',
    { spec: { containers: [{}] }, status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull' } } }] } },
    '0/1',
    'ErrImagePull',
  ],
  [
    '/Pod',
    { spec: { containers: [{}] }, status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'Error' } } }] } },
    '0/1',
    'Error',
  ],
  [
    '/Pod',
    { spec: { containers: [{}] }, status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }] } },
    '0/1',
    'Succeeded',
  ],
  ['apps/Deployment', { metadata: { deletionTimestamp: 'x' }, spec: { replicas: 3 }, status: { readyReplicas: 2 } }, '2/3', 'Terminating'],
  ['apps/Deployment', { spec: { replicas: 0 }, status: { conditions: [{ type: 'Available', status: 'True' }] } }, '0/0', 'Available'],
  ['apps/DaemonSet', { status: { numberReady: 1, desiredNumberScheduled: 4 } }, '1/4', ''],
  [
    'batch/Job',
    { spec: { completions: 2 }, status: { succeeded: 2, conditions: [{ type: 'Complete', status: 'True' }] } },
    '2/2',
    'Complete',
  ],
  [
    'batch/Job',
    {
      spec: {},
      status: {
        conditions: [
          { type: 'Failed', status: 'False' },
          { type: 'Ready', status: 'Unknown' },
        ],
      },
    },
    '0/1',
    'NotReady',
  ],
  ['shop.example/Order', { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'NoStock' }] } }, '', 'NotReady (NoStock)'],
  ['shop.example/Order', { status: { phase: 'Paid', conditions: [{ type: 'Ready', status: 'False' }] } }, '', 'Paid'],
  ['shop.example/Order', {}, '', ''],
  ['shop.example/Order', { status: { conditions: 'none' } }, '', ''],
])('%s %j is %s %s', (kind, object, ready, status) => {
  expect(statusOf(kind, object)).toEqual({ ready, status });
});
