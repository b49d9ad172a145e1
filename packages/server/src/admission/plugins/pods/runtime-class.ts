/** RuntimeClass: copies the overhead and the scheduling rules of the class into the pod. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { RuntimeClass } from '@plat-dev/kinds/node/schema/v1';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import { mergeTolerations } from '../../tolerations.ts';
import type { AdmissionRequest } from '../../types.ts';

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

export const runtimeClass: MakePlugin = ({ live }) => {
  const classes = live<RuntimeClass>('node', 'runtimeclasses');
  const classOf = (request: AdmissionRequest, pod: Pod): RuntimeClass | undefined => {
    const name = pod.spec.runtimeClassName;
    if (name === undefined || name === '') return undefined;
    const runtimeClass = classes.get('', name);
    if (runtimeClass === undefined) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    return runtimeClass;
  };
  return {
    name: 'RuntimeClass',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('pods'),
    admit(request) {
      const pod = podOf(request);
      if (pod === undefined) return;
      const runtimeClass = classOf(request, pod);
      if (runtimeClass === undefined) return;
      if (runtimeClass.overhead != null) {
        if (pod.spec.overhead === undefined) pod.spec.overhead = { ...runtimeClass.overhead.podFixed };
        else if (!equal(pod.spec.overhead, runtimeClass.overhead.podFixed)) throw refusal(request, otherOverhead);
      }
      if (runtimeClass.scheduling != null) place(request, pod, runtimeClass.scheduling);
    },
    validate(request) {
      const pod = podOf(request);
      if (pod === undefined) return;
      const overhead = classOf(request, pod)?.overhead;
      if (overhead != null) {
        if (!equal(pod.spec.overhead, overhead.podFixed)) throw refusal(request, otherOverhead);
      } else if (pod.spec.overhead !== undefined)
        throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
    },
  };
};

function place(request: AdmissionRequest, { spec }: Pod, scheduling: NonNullable<RuntimeClass['scheduling']>): void {
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const selected = own(spec.nodeSelector, key);
    if (selected !== undefined && selected !== value)
      throw refusal(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${selected}`,
      );
    spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
  }
  if ((scheduling.tolerations ?? []).length > 0)
    spec.tolerations = mergeTolerations(spec.tolerations ?? [], structuredClone(scheduling.tolerations ?? []));
}
