/** Registrations of mutating webhooks. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import { MutatingWebhookConfiguration } from './schema/v1.ts';
import { defaults, validateConfiguration, validateConfigurationUpdate } from './validate-webhooks.ts';
import { clientWarnings } from './warnings.ts';

export const MutatingWebhookConfigurationKind = kind<MutatingWebhookConfiguration>({
  group: 'admissionregistration',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: version({ schema: MutatingWebhookConfiguration, defaults }) },
  hub: 'v1',
  generation: true,
  updateNeedsVersion: true,
  strategy: { validate: validateConfiguration, validateUpdate: validateConfigurationUpdate, warnings: clientWarnings },
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'How many webhooks the configuration lists.' }, ageColumn],
  cells: (configuration, env) => [nameCell(configuration), (configuration.webhooks ?? []).length, ageCell(configuration, env)],
});
