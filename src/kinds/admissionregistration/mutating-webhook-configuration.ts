/** Registrations of mutating webhooks. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { MutatingWebhookConfiguration } from './schema/v1.ts';

export const MutatingWebhookConfigurationKind = kind<MutatingWebhookConfiguration>({
  group: 'admissionregistration',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: { schema: MutatingWebhookConfiguration } },
  hub: 'v1',
  updateNeedsVersion: true,
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'How many webhooks the configuration lists.' }, ageColumn],
});
