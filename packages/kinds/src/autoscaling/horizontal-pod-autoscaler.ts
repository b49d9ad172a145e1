/** Horizontal pod autoscalers. The hub is version 2, which can represent the others. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import { status } from '../subresources.ts';
import { metricsCell } from './cells.ts';
import { asVersion1Keeps, fromVersion1, fromVersion2beta1, statusAsVersion1Keeps, toVersion1, toVersion2beta1 } from './conversion.ts';
import { defaults, defaults1, defaults2beta1 } from './defaults.ts';
import * as v1 from './schema/v1.ts';
import * as v2 from './schema/v2.ts';
import * as v2beta1 from './schema/v2beta1.ts';
import * as v2beta2 from './schema/v2beta2.ts';
import { validateAutoscaler, validateAutoscalerStatus, validateAutoscalerUpdate } from './validate-autoscaler.ts';

export const HorizontalPodAutoscalerKind = kind<v2.HorizontalPodAutoscaler>({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  short: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v2: version({ schema: v2.HorizontalPodAutoscaler, defaults }),
    v1: version({ schema: v1.HorizontalPodAutoscaler, defaults: defaults1, toHub: fromVersion1, fromHub: toVersion1 }),
    v2beta1: version({
      schema: v2beta1.HorizontalPodAutoscaler,
      defaults: defaults2beta1,
      toHub: fromVersion2beta1,
      fromHub: toVersion2beta1,
    }),
    v2beta2: version({
      schema: v2beta2.HorizontalPodAutoscaler,
      defaults,
    }),
  },
  hub: 'v2',
  strategy: {
    prepareForCreate(autoscaler) {
      autoscaler.status = { desiredReplicas: 0 };
    },
    prepareForUpdate(autoscaler, old) {
      autoscaler.status = old.status;
    },
    validate: validateAutoscaler,
    validateUpdate: validateAutoscalerUpdate,
    canonicalize: asVersion1Keeps,
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate: (autoscaler, old) => {
        autoscaler.spec = old.spec;
      },
      validateUpdate: validateAutoscalerStatus,
      canonicalize: statusAsVersion1Keeps,
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Reference', type: 'string', description: 'The object that is scaled.' },
    { name: 'Targets', type: 'string', description: 'The current and the wanted value of each metric.' },
    { name: 'MinPods', type: 'string', description: 'The least number of pods.' },
    { name: 'MaxPods', type: 'string', description: 'The greatest number of pods.' },
    { name: 'Replicas', type: 'string', description: 'The current number of pods.' },
    ageColumn,
  ],
  cells: (autoscaler, env) => [
    nameCell(autoscaler),
    `${autoscaler.spec.scaleTargetRef.kind}/${autoscaler.spec.scaleTargetRef.name}`,
    metricsCell(autoscaler, env),
    autoscaler.spec.minReplicas === undefined ? '<unset>' : String(autoscaler.spec.minReplicas),
    autoscaler.spec.maxReplicas,
    autoscaler.status.currentReplicas ?? 0,
    ageCell(autoscaler, env),
  ],
});
