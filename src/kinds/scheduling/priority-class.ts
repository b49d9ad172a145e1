/** Priority classes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { PriorityClass } from './schema/v1.ts';

export const PriorityClassKind = kind<PriorityClass>({
  group: 'scheduling',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  short: ['pc'],
  scope: 'Cluster',
  versions: { v1: { schema: PriorityClass } },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'Value', type: 'integer', description: 'The priority that pods of the class get.' },
    { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class get this one.' },
    ageColumn,
  ],
});
