/** Nodes and namespaces. */
import { listAt, mapAt, textAt, type Value, valueAt } from '../../../../api/values.ts';
import { code, fact, list, type Summary, state, text } from '../summary.ts';

export function nodeSummary(node: Value): Summary {
  const ready = listAt(node, 'status', 'conditions').find((condition) => textAt(condition, 'type') === 'Ready');
  const isReady = textAt(ready, 'status') === 'True';
  const capacity = mapAt(node, 'status', 'capacity');
  return {
    facts: [
      ...fact('Status', state(isReady ? 'Ready' : 'NotReady')),
      ...fact('Scheduling', valueAt(node, 'spec', 'unschedulable') === true ? state('Takes no new pods', 'busy') : 'Takes new pods'),
      ...fact(
        'Addresses',
        list(listAt(node, 'status', 'addresses').map((entry) => text(`${textAt(entry, 'type')} ${textAt(entry, 'address')}`))),
      ),
      ...fact('Pod addresses', list(listAt(node, 'spec', 'podCIDRs').map((range) => code(String(range))))),
      ...fact('Agent', textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
      ...fact('System', textAt(node, 'status', 'nodeInfo', 'osImage')),
      ...fact('Containers by', textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion')),
    ],
    tables: [
      {
        title: 'Capacity',
        columns: ['Resource', 'Capacity', 'For pods'],
        rows: Object.entries(capacity).map(([name, amount]) => [
          text(name),
          text(String(amount)),
          text(textAt(node, 'status', 'allocatable', name)),
        ]),
      },
      {
        title: 'Taints',
        columns: ['Key', 'Value', 'Effect'],
        rows: listAt(node, 'spec', 'taints').map((taint) => [
          code(textAt(taint, 'key')),
          code(textAt(taint, 'value')),
          text(textAt(taint, 'effect')),
        ]),
      },
    ],
  };
}

export function namespaceSummary(namespace: Value): Summary {
  return {
    facts: [
      ...fact('Status', state(textAt(namespace, 'status', 'phase') || 'Active')),
      ...fact('Finalizers', list(listAt(namespace, 'spec', 'finalizers').map((name) => code(String(name))))),
    ],
    tables: [],
  };
}
