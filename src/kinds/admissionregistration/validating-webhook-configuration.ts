/** Registrations of validating webhooks. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ValidatingWebhookConfiguration } from './schema/v1.ts';

export const ValidatingWebhookConfigurationKind = kind<ValidatingWebhookConfiguration>({
  group: 'admissionregistration',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: { schema: ValidatingWebhookConfiguration } },
  hub: 'v1',
  updateNeedsVersion: true,
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'How many webhooks the configuration lists.' }, ageColumn],
});
