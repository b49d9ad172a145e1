/** Pod disruption budgets. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const PodDisruptionBudgetKind = kind<v1.PodDisruptionBudget>({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  short: ['pdb'],
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.PodDisruptionBudget },
    v1beta1: {
      schema: v1beta1.PodDisruptionBudget,
      deprecation: { deprecated: '1.21', removed: '1.25', replacement: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' } },
    },
  },
  hub: 'v1',
  updateNeedsVersion: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Min Available', type: 'string', description: 'How many pods must stay available.' },
    { name: 'Max Unavailable', type: 'string', description: 'How many pods may be unavailable.' },
    { name: 'Allowed Disruptions', type: 'integer', description: 'How many pods may be evicted now.' },
    ageColumn,
  ],
});
