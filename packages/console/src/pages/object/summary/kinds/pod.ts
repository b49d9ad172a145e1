import { podState } from '../../../../api/pod-state.ts';
import { listAt, mapAt, numberAt, textAt, type Value, valueAt } from '../../../../api/values.ts';
import { code, type FactTable, fact, list, type Shown, type Summary, state, text } from '../summary.ts';

export function podSummary(pod: Value): Summary {
  const node = textAt(pod, 'spec', 'nodeName');
  return {
    facts: [
      ...fact('Status', state(podState(pod))),
      ...fact('Reason', textAt(pod, 'status', 'message')),
      ...fact('Node', node === '' ? undefined : { type: 'link', apiVersion: 'v1', kind: 'Node', name: node }),
      ...fact('Address', list(listAt(pod, 'status', 'podIPs').map((entry) => code(textAt(entry, 'ip'))))),
      ...fact('Started', { type: 'time', time: textAt(pod, 'status', 'startTime') }),
      ...fact('Service account', textAt(pod, 'spec', 'serviceAccountName')),
      ...fact('Restart policy', textAt(pod, 'spec', 'restartPolicy')),
      ...fact('Quality of service', textAt(pod, 'status', 'qosClass')),
      ...fact('Priority', textAt(pod, 'spec', 'priorityClassName') || textAt(pod, 'spec', 'priority')),
    ],
    tables: [
      containerTable('Init containers', pod, 'initContainers', 'initContainerStatuses'),
      containerTable('Containers', pod, 'containers', 'containerStatuses'),
      volumeTable(pod),
    ],
  };
}

function containerTable(title: string, pod: Value, field: string, statusField: string): FactTable {
  const statuses = new Map(listAt(pod, 'status', statusField).map((status) => [textAt(status, 'name'), status]));
  return {
    title,
    columns: ['Name', 'Image', 'State', 'Ready', 'Restarts', 'Ports', 'Requests and limits'],
    rows: listAt(pod, 'spec', field).map((container) => {
      const status = statuses.get(textAt(container, 'name'));
      return [
        text(textAt(container, 'name')),
        code(textAt(container, 'image')),
        containerState(status),
        state(valueAt(status, 'ready') === true ? 'Yes' : 'No', valueAt(status, 'ready') === true ? 'good' : 'busy'),
        text(String(numberAt(status, 'restartCount') ?? 0)),
        list(listAt(container, 'ports').map((port) => code(`${textAt(port, 'containerPort')}/${textAt(port, 'protocol') || 'TCP'}`))),
        list(resourceTexts(container).map(text)),
      ];
    }),
  };
}

export function resourceTexts(container: Value): string[] {
  return ['requests', 'limits'].flatMap((part) => {
    const amounts = Object.entries(mapAt(container, 'resources', part)).map(([name, amount]) => `${name} ${String(amount)}`);
    return amounts.length === 0 ? [] : [`${part}: ${amounts.join(', ')}`];
  });
}

function containerState(status: Value): Shown {
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting !== '') return state(waiting, /BackOff|Err|Invalid/.test(waiting) ? 'bad' : 'busy');
  const ended = mapAt(status, 'state', 'terminated');
  if (Object.keys(ended).length > 0) {
    const exitCode = numberAt(ended, 'exitCode') ?? 0;
    return state(`${textAt(ended, 'reason') || 'Ended'} (exit code ${exitCode})`, exitCode === 0 ? 'over' : 'bad');
  }
  return valueAt(status, 'state', 'running') === undefined ? state('Waiting', 'busy') : state('Running');
}

function volumeTable(pod: Value): FactTable {
  const namespace = textAt(pod, 'metadata', 'namespace');
  return {
    title: 'Volumes',
    columns: ['Name', 'Type', 'Source'],
    rows: listAt(pod, 'spec', 'volumes').map((volume) => {
      const type = Object.keys(mapAt(volume)).find((key) => key !== 'name') ?? 'emptyDir';
      return [text(textAt(volume, 'name')), text(type), volumeSource(volume, type, namespace)];
    }),
  };
}

function volumeSource(volume: Value, type: string, namespace: string): Shown {
  if (type === 'configMap') return { type: 'link', apiVersion: 'v1', kind: 'ConfigMap', namespace, name: textAt(volume, type, 'name') };
  if (type === 'secret') return { type: 'link', apiVersion: 'v1', kind: 'Secret', namespace, name: textAt(volume, type, 'secretName') };
  if (type === 'persistentVolumeClaim')
    return { type: 'link', apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: textAt(volume, type, 'claimName') };
  return text(textAt(volume, type, 'path') || textAt(volume, type, 'medium'));
}
