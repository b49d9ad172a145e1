/** The rules of pods, and of all that hold a template of one, can be interrupted between containers. */

import { FieldErrors } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import { DaemonSetKind } from '../../apps/daemon-set.ts';
import { DeploymentKind } from '../../apps/deployment.ts';
import { ReplicaSetKind } from '../../apps/replica-set.ts';
import { CronJobKind } from '../../batch/cron-job.ts';
import { JobKind } from '../../batch/job.ts';
import { PodKind } from '../../core/pods/pod.ts';
import { PodTemplateKind } from '../../core/pods/pod-template.ts';
import { ReplicationControllerKind } from '../../core/replication-controller.ts';
import type { Kind, Strategy, WriteRequest } from '../../kind.ts';
import { defaulted, type Loose, testEnv } from '../kinds.testing.ts';

const request: WriteRequest = { user: { name: 'alice', groups: [] }, resource: { version: 'v1' } };
const containers = Array.from({ length: 100 }, (_, i) => ({ name: i === 99 ? 'Wrong' : `c${i}`, image: 'i' }));
const labels = { app: 'a' };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers, initContainers: [{ name: 'first', image: 'i' }] } };
const job = { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } };

const holders: [Kind, Loose, number][] = [
  [PodKind as Kind, { spec: template.spec }, 1],
  [PodTemplateKind as Kind, { template }, 1],
  [ReplicationControllerKind as Kind, { spec: { selector: labels, template } }, 2],
  [ReplicaSetKind as Kind, { spec: { selector, template } }, 2],
  [DeploymentKind as Kind, { spec: { selector, template } }, 1],
  [DaemonSetKind as Kind, { spec: { selector, template } }, 2],
  [JobKind as Kind, { spec: { ...job, selector, manualSelector: true } }, 2],
  [CronJobKind as Kind, { spec: { schedule: '* * * * *', jobTemplate: { spec: job } } }, 1],
];

test.each(holders.map(([kind, body, rounds]) => [kind.kind, kind, body, rounds] as const))(
  '%s: a fault of the last container is found, with a pause after each before it',
  (_name, kind, body, rounds) => {
    const object = (): Loose => defaulted(kind, { metadata: { name: 'x', namespace: 'team', uid: 'u' }, ...body }) as Loose;
    const strategy = kind.strategy as Strategy<Loose>;
    const faultsAndPauses = (validate: (errors: FieldErrors) => unknown): [number, number] => {
      const errors = new FieldErrors();
      const pauses = [...(validate(errors) as Iterable<void>)].length;
      return [errors.list.filter(({ field }) => field?.endsWith('containers[99].name')).length, pauses];
    };
    const [faults, pauses] = faultsAndPauses((errors) => strategy.validate?.(object(), errors, testEnv, request));
    expect(faults).toBe(1);
    expect(pauses).toBeGreaterThanOrEqual(101);
    const [again, more] = faultsAndPauses((errors) => strategy.validateUpdate?.(object(), object(), errors, testEnv, request));
    expect(again).toBe(rounds);
    expect(more).toBeGreaterThanOrEqual(101 * rounds);
  },
);
