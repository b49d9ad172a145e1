/** Secrets. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { Secret } from './schema/config.ts';

export const SecretKind = kind<Secret>({
  group: '',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  versions: { v1: { schema: Secret } },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'What the secret is for.' },
    { name: 'Data', type: 'string', description: 'How many entries the secret holds.' },
    ageColumn,
  ],
});
