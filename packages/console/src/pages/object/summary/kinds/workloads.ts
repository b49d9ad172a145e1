/** Deployments, replica sets, stateful sets, daemon sets, jobs and cron jobs. */
import { listAt, mapAt, numberAt, textAt, type Value, valueAt } from '../../../../api/values.ts';
import { code, type FactTable, fact, list, type Summary, state, text } from '../summary.ts';
import { resourceTexts } from './pod.ts';

export function deploymentSummary(deployment: Value): Summary {
  return {
    facts: [
      ...fact('Replicas', replicas(deployment, 'readyReplicas')),
      ...fact('Updated', count(deployment, 'updatedReplicas')),
      ...fact('Available', count(deployment, 'availableReplicas')),
      ...fact('Unavailable', count(deployment, 'unavailableReplicas')),
      ...fact('Strategy', strategyText(deployment)),
      ...fact('Paused', valueAt(deployment, 'spec', 'paused') === true ? state('Yes', 'busy') : undefined),
      ...selector(deployment),
    ],
    tables: [containers(deployment, 'spec', 'template', 'spec')],
  };
}

export function replicaSetSummary(set: Value): Summary {
  return {
    facts: [...fact('Replicas', replicas(set, 'readyReplicas')), ...fact('Available', count(set, 'availableReplicas')), ...selector(set)],
    tables: [containers(set, 'spec', 'template', 'spec')],
  };
}

export function statefulSetSummary(set: Value): Summary {
  return {
    facts: [
      ...fact('Replicas', replicas(set, 'readyReplicas')),
      ...fact('Updated', count(set, 'updatedReplicas')),
      ...fact('Service', {
        type: 'link',
        apiVersion: 'v1',
        kind: 'Service',
        namespace: namespaceOf(set),
        name: textAt(set, 'spec', 'serviceName'),
      }),
      ...fact('Update strategy', textAt(set, 'spec', 'updateStrategy', 'type')),
      ...fact('Pod management', textAt(set, 'spec', 'podManagementPolicy')),
      ...fact('Revision', code(textAt(set, 'status', 'currentRevision'))),
      ...selector(set),
    ],
    tables: [
      containers(set, 'spec', 'template', 'spec'),
      {
        title: 'Claims that each pod gets',
        columns: ['Name', 'Size', 'Storage class'],
        rows: listAt(set, 'spec', 'volumeClaimTemplates').map((claim) => [
          text(textAt(claim, 'metadata', 'name')),
          text(textAt(claim, 'spec', 'resources', 'requests', 'storage')),
          text(textAt(claim, 'spec', 'storageClassName') || 'the default'),
        ]),
      },
    ],
  };
}

export function daemonSetSummary(set: Value): Summary {
  const desired = numberAt(set, 'status', 'desiredNumberScheduled') ?? 0;
  const ready = numberAt(set, 'status', 'numberReady') ?? 0;
  return {
    facts: [
      ...fact('Ready', state(`${ready} of ${desired} nodes`, ready >= desired ? 'good' : 'busy')),
      ...fact('Updated', count(set, 'updatedNumberScheduled')),
      ...fact('Available', count(set, 'numberAvailable')),
      ...fact('On wrong nodes', count(set, 'numberMisscheduled')),
      ...fact('Update strategy', textAt(set, 'spec', 'updateStrategy', 'type')),
      ...selector(set),
    ],
    tables: [containers(set, 'spec', 'template', 'spec')],
  };
}

export function jobSummary(job: Value): Summary {
  const succeeded = numberAt(job, 'status', 'succeeded') ?? 0;
  const wanted = numberAt(job, 'spec', 'completions') ?? 1;
  return {
    facts: [
      ...fact('Completions', state(`${succeeded} of ${wanted}`, succeeded >= wanted ? 'over' : 'busy')),
      ...fact('Active pods', count(job, 'active')),
      ...fact('Failed pods', count(job, 'failed')),
      ...fact('Parallelism', textAt(job, 'spec', 'parallelism')),
      ...fact('Failures allowed', textAt(job, 'spec', 'backoffLimit')),
      ...fact('Suspended', valueAt(job, 'spec', 'suspend') === true ? state('Suspended') : undefined),
      ...fact('Started', { type: 'time', time: textAt(job, 'status', 'startTime') }),
      ...fact('Completed', { type: 'time', time: textAt(job, 'status', 'completionTime') }),
    ],
    tables: [containers(job, 'spec', 'template', 'spec')],
  };
}

export function cronJobSummary(job: Value): Summary {
  const namespace = namespaceOf(job);
  return {
    facts: [
      ...fact('Schedule', code(textAt(job, 'spec', 'schedule'))),
      ...fact('Time zone', textAt(job, 'spec', 'timeZone')),
      ...fact('Suspended', valueAt(job, 'spec', 'suspend') === true ? state('Suspended') : undefined),
      ...fact('If one still runs', textAt(job, 'spec', 'concurrencyPolicy')),
      ...fact('Last scheduled', { type: 'time', time: textAt(job, 'status', 'lastScheduleTime') }),
      ...fact('Last successful', { type: 'time', time: textAt(job, 'status', 'lastSuccessfulTime') }),
      ...fact(
        'Active jobs',
        list(
          listAt(job, 'status', 'active').map((active) => ({
            type: 'link',
            apiVersion: 'batch/v1',
            kind: 'Job',
            namespace,
            name: textAt(active, 'name'),
          })),
        ),
      ),
    ],
    tables: [containers(job, 'spec', 'jobTemplate', 'spec', 'template', 'spec')],
  };
}

const namespaceOf = (object: Value): string => textAt(object, 'metadata', 'namespace');
const count = (object: Value, field: string): string => textAt(object, 'status', field);

function replicas(object: Value, readyField: string) {
  const desired = numberAt(object, 'spec', 'replicas') ?? 1;
  const ready = numberAt(object, 'status', readyField) ?? 0;
  return state(`${ready} of ${desired} ready`, ready >= desired ? (desired === 0 ? 'over' : 'good') : 'busy');
}

function strategyText(deployment: Value): string {
  const strategy = mapAt(deployment, 'spec', 'strategy');
  const surge = textAt(strategy, 'rollingUpdate', 'maxSurge');
  const unavailable = textAt(strategy, 'rollingUpdate', 'maxUnavailable');
  return surge === '' ? textAt(strategy, 'type') : `${textAt(strategy, 'type')}: ${surge} more, ${unavailable} unavailable at most`;
}

function selector(object: Value) {
  const labels = Object.fromEntries(
    Object.entries(mapAt(object, 'spec', 'selector', 'matchLabels')).map(([key, value]) => [key, String(value)]),
  );
  return fact('Selector', { type: 'labels', labels });
}

function containers(object: Value, ...path: readonly string[]): FactTable {
  return {
    title: 'Containers of its pods',
    columns: ['Name', 'Image', 'Ports', 'Requests and limits'],
    rows: listAt(object, ...path, 'containers').map((container) => [
      text(textAt(container, 'name')),
      code(textAt(container, 'image')),
      list(listAt(container, 'ports').map((port) => code(`${textAt(port, 'containerPort')}/${textAt(port, 'protocol') || 'TCP'}`))),
      list(resourceTexts(container).map(text)),
    ]),
  };
}
