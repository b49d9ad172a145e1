/** Groups of pods that are scheduled together, or one by one. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { PodGroup } from './schema/workloads.ts';
import { keepFields, validateGroupStatus, validatePodGroup } from './workload-rules.ts';

const keptFields = [
  ...(['podGroupTemplateRef', 'schedulingPolicy', 'schedulingConstraints', 'resourceClaims'] as const),
  ...(['disruptionMode', 'priorityClassName', 'priority'] as const),
];

function statusCell({ status: { conditions = [] } }: PodGroup): string {
  const condition = (name: string) => conditions.find(({ type }) => type === name);
  const disruption = condition('DisruptionTarget');
  if (disruption !== undefined) return disruption.reason;
  const scheduled = condition('PodGroupScheduled');
  if (scheduled === undefined) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

export const PodGroupKind = kind<PodGroup>({
  group: 'scheduling',
  kind: 'PodGroup',
  plural: 'podgroups',
  scope: 'Namespaced',
  versions: { v1alpha2: { schema: PodGroup } },
  hub: 'v1alpha2',
  strategy: {
    prepareForCreate: (group) => {
      group.status = {};
    },
    prepareForUpdate: (group, old) => {
      group.status = old.status;
    },
    validate: validatePodGroup,
    validateUpdate(group, old, errors, env) {
      metadataUpdateAgain(group, old, errors, env);
      keepFields(keptFields, group.spec, old.spec, errors);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(group, old) {
        keepMetadata(group, old);
        group.spec = old.spec;
      },
      validateUpdate(group, old, errors, env) {
        metadataUpdateAgain(group, old, errors, env);
        validateGroupStatus(group, errors);
      },
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Policy', type: 'string', description: 'Whether the pods are scheduled together.' },
    { name: 'Workload', type: 'string', description: 'The workload that the group belongs to.' },
    { name: 'Status', type: 'string', description: 'Whether the pods are scheduled.' },
    ageColumn,
  ],
  cells: (group, env) => [
    nameCell(group),
    group.spec.schedulingPolicy.gang === undefined ? 'Basic' : 'Gang',
    group.spec.podGroupTemplateRef?.workload?.workloadName ?? '<none>',
    statusCell(group),
    ageCell(group, env),
  ],
});
