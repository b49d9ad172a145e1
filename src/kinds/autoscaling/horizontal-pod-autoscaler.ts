/** Horizontal pod autoscalers. The hub is version 2, which has room for what the others say. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import * as v1 from './schema/v1.ts';
import * as v2 from './schema/v2.ts';
import * as v2beta1 from './schema/v2beta1.ts';
import * as v2beta2 from './schema/v2beta2.ts';

export const HorizontalPodAutoscalerKind = kind<v2.HorizontalPodAutoscaler>({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  short: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v2: { schema: v2.HorizontalPodAutoscaler },
    v1: { schema: v1.HorizontalPodAutoscaler },
    v2beta1: {
      schema: v2beta1.HorizontalPodAutoscaler,
      deprecation: {
        deprecated: '1.22',
        removed: '1.25',
        replacement: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      },
    },
    v2beta2: {
      schema: v2beta2.HorizontalPodAutoscaler,
      deprecation: {
        deprecated: '1.23',
        removed: '1.26',
        replacement: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      },
    },
  },
  hub: 'v2',
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Reference', type: 'string', description: 'The object that is scaled.' },
    { name: 'Targets', type: 'string', description: 'The current and the wanted value of each metric.' },
    { name: 'MinPods', type: 'string', description: 'The least number of pods.' },
    { name: 'MaxPods', type: 'string', description: 'The greatest number of pods.' },
    { name: 'Replicas', type: 'string', description: 'The current number of pods.' },
    ageColumn,
  ],
});
