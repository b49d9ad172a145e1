import { clientSideApply } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { Revision } from './revisions.ts';
import { chosenRevision, restoringPatch } from './undo.ts';
import type { Workload } from './workloads.ts';

const revision = (number: number, annotations = {}): Revision => ({
  number,
  cause: '',
  template: { metadata: { labels: { app: 'web', 'pod-template-hash': 'abc' } }, spec: { containers: [] } },
  annotations,
  holder: `web-${number}`,
});
const workload = (kind: string, annotations = {}): Workload => ({
  kind,
  metadata: { name: 'web', uid: 'u', annotations },
  spec: { template: {} },
});

test('the revision before the newest, or that of a number', () => {
  const all = [revision(1), revision(4), revision(5)];
  expect(chosenRevision(all, 0, workload('Deployment')).number).toBe(4);
  expect(chosenRevision(all, 1, workload('Deployment')).number).toBe(1);
  expect(() => chosenRevision(all, 3, workload('Deployment'))).toThrow('unable to find specified revision 3 in history');
  expect(() => chosenRevision([revision(1)], 0, workload('Deployment'))).toThrow('no rollout history found for deployment "web"');
  expect(() => chosenRevision([revision(1)], 0, workload('DaemonSet'))).toThrow('no last revision to roll back to');
});

test('a rollback keeps what the deployment says of its rollout, and takes the rest from the replica set', () => {
  const own = { 'deployment.kubernetes.io/revision': '5', [clientSideApply.annotation]: '{}', mine: 'gone' };
  const old = { 'deployment.kubernetes.io/revision': '4', 'deployment.kubernetes.io/desired-replicas': '3', mine: 'old', more: 'x' };
  expect(restoringPatch(workload('Deployment', own), revision(4, old))).toEqual([
    { op: 'replace', path: '/spec/template', value: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } } },
    {
      op: 'add',
      path: '/metadata/annotations',
      value: { 'deployment.kubernetes.io/revision': '5', [clientSideApply.annotation]: '{}', mine: 'old', more: 'x' },
    },
  ]);
});
