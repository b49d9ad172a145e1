/** Config maps. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ConfigMap } from './schema/config.ts';

export const ConfigMapKind = kind<ConfigMap>({
  group: '',
  kind: 'ConfigMap',
  plural: 'configmaps',
  short: ['cm'],
  scope: 'Namespaced',
  versions: { v1: { schema: ConfigMap } },
  hub: 'v1',
  columns: [nameColumn, { name: 'Data', type: 'string', description: 'How many entries the config map holds.' }, ageColumn],
});
