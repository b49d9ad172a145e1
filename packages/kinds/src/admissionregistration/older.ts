/** admissionregistration/v1beta1. */
import { version } from '../kind.ts';
import type { OlderVersions } from '../older.ts';
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import { defaults as selectorDefaults } from './validate-webhooks.ts';

/** Webhooks without `admissionReviewVersions` get reviews of version 1beta1. */
function defaults(configuration: MutatingWebhookConfiguration | ValidatingWebhookConfiguration): void {
  selectorDefaults(configuration);
  for (const webhook of configuration.webhooks ?? [])
    if ((webhook.admissionReviewVersions ?? []).length === 0) webhook.admissionReviewVersions = ['v1beta1'];
}

export const olderAdmissionRegistration: readonly OlderVersions[] = [
  {
    group: 'admissionregistration',
    plural: 'mutatingwebhookconfigurations',
    versions: { v1beta1: version({ schema: v1beta1.MutatingWebhookConfiguration, defaults }) },
  },
  {
    group: 'admissionregistration',
    plural: 'validatingwebhookconfigurations',
    versions: { v1beta1: version({ schema: v1beta1.ValidatingWebhookConfiguration, defaults }) },
  },
];
