/** Workloads: what the groups of pods of one application have in common. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { Workload } from './schema/workloads.ts';
import { keepFields, validateWorkload } from './workload-rules.ts';

export const WorkloadKind = kind<Workload>({
  group: 'scheduling',
  kind: 'Workload',
  plural: 'workloads',
  scope: 'Namespaced',
  versions: { v1alpha2: { schema: Workload } },
  hub: 'v1alpha2',
  strategy: {
    validate: validateWorkload,
    validateUpdate(workload, old, errors, env) {
      metadataUpdateAgain(workload, old, errors, env);
      keepFields(['controllerRef', 'podGroupTemplates'], workload.spec, old.spec, errors);
    },
  },
  columns: [nameColumn, ageColumn],
  cells: (workload, env) => [nameCell(workload), ageCell(workload, env)],
});
