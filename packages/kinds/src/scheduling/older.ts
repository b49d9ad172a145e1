/** scheduling/v1beta1 and v1alpha1. */
import { type OlderVersions, sameFields } from '../older.ts';
import { PriorityClassKind } from './priority-class.ts';

export const olderScheduling: readonly OlderVersions[] = [
  {
    group: 'scheduling',
    plural: 'priorityclasses',
    versions: {
      v1beta1: sameFields(PriorityClassKind, 'scheduling.v1beta1'),
      v1alpha1: sameFields(PriorityClassKind, 'scheduling.v1alpha1'),
    },
  },
];
