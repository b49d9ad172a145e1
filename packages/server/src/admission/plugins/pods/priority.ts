/** Priority: sets the priority of a pod from its class, and ensures that there is at most one default class. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PriorityClass } from '@plat-dev/kinds/scheduling/schema/v1';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

const usual = { name: undefined, value: 0, preemptionPolicy: 'PreemptLowerPriority' };

export const priority: MakePlugin = ({ live }) => {
  const classes = live<PriorityClass>('scheduling', 'priorityclasses');
  let defaultClass: PriorityClass | undefined;
  let asOf = -1;
  /** Of several default classes, which can only be old data, the lowest counts. */
  const globalDefault = (): PriorityClass | undefined => {
    if (asOf !== classes.generation) {
      asOf = classes.generation;
      defaultClass = undefined;
      for (const one of classes.list())
        if (one.globalDefault && (defaultClass === undefined || defaultClass.value > one.value)) defaultClass = one;
    }
    return defaultClass;
  };
  const classOf = (request: AdmissionRequest, name: string | undefined) => {
    const priorityClass = name === undefined || name === '' ? globalDefault() : classes.get('', name);
    if (priorityClass !== undefined)
      return { name: priorityClass.metadata.name, value: priorityClass.value, preemptionPolicy: priorityClass.preemptionPolicy };
    if (name === undefined || name === '') return usual;
    throw refusal(request, `no PriorityClass with name ${name} was found`);
  };
  return {
    name: 'Priority',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods', 'scheduling/priorityclasses'),
    admit(request) {
      if (request.served.kind.plural !== 'pods') return;
      const pod = podOf(request);
      if (pod === undefined) return;
      if (request.operation === 'UPDATE') return keep(pod, request.oldObject as unknown as Pod);
      const { spec } = pod;
      const podClass = classOf(request, spec.priorityClassName);
      if (podClass.name !== undefined) spec.priorityClassName = podClass.name;
      if (spec.priority !== undefined && spec.priority !== podClass.value)
        throw refusal(request, mismatch('integer', spec.priority, podClass.value));
      spec.priority = podClass.value;
      if (podClass.preemptionPolicy === undefined) return;
      if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== podClass.preemptionPolicy)
        throw refusal(request, mismatch('string', spec.preemptionPolicy, podClass.preemptionPolicy));
      spec.preemptionPolicy = podClass.preemptionPolicy;
    },
    validate(request) {
      if (request.served.kind.plural !== 'priorityclasses') return;
      const newClass = request.object as unknown as PriorityClass;
      const current = newClass.globalDefault ? globalDefault() : undefined;
      if (current === undefined || (request.operation === 'UPDATE' && current.metadata.name === newClass.metadata.name)) return;
      throw refusal(request, `PriorityClass ${current.metadata.name} is already marked as default. Only one default can exist`);
    },
  };
};

/** A client that does not know these fields must not remove them. */
function keep({ spec }: Pod, { spec: old }: Pod): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
}

function mismatch(type: 'integer' | 'string', givenValue: number | string, computed: number | string): string {
  const what = type === 'integer' ? 'priority' : 'PreemptionPolicy';
  return `the ${type} value of ${what} (${givenValue}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
}
