/** Validation of the conversion of a custom kind. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label } from '@plat-dev/meta/names';
import { each, repeatedTexts } from '../validation/each.ts';
import { report, word } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { validateWebhookClient } from '../validation/webhook-client.ts';
import type { CustomResourceConversion } from './schema/v1.ts';

const reviewVersions = ['v1', 'v1beta1'];

export function validateConversion(
  conversion: CustomResourceConversion | undefined,
  preserveUnknownFields: boolean,
  at: Path,
  errors: FieldErrors,
): void {
  if (conversion === undefined) return;
  const { strategy, webhook } = conversion;
  if (strategy !== 'None' && preserveUnknownFields)
    errors.invalid(at.child('strategy'), strategy, 'must be None if spec.preserveUnknownFields is true');
  word(strategy, ['None', 'Webhook'], at.child('strategy'), errors);
  const client = at.child('webhookClientConfig');
  const versions = at.child('conversionReviewVersions');
  if (strategy === 'Webhook') {
    if (webhook?.clientConfig === undefined) errors.required(client, 'required when strategy is set to Webhook');
    else validateWebhookClient(webhook.clientConfig, client, errors);
    validateReviewVersions(webhook?.conversionReviewVersions ?? [], versions, errors);
    return;
  }
  const idle = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.forbidden(client, idle);
  if ((webhook?.conversionReviewVersions ?? []).length > 0) errors.forbidden(versions, idle);
}

function validateReviewVersions(versions: readonly string[], at: Path, errors: FieldErrors): void {
  if (versions.length === 0) {
    errors.required(at);
    return;
  }
  const again = repeatedTexts(versions);
  each(versions, at, (version, here, i) => {
    if (again[i]) errors.invalid(here, version, 'duplicate version');
    else report(errors, here, version, dns1035Label(version));
  });
  if (!versions.some((version) => reviewVersions.includes(version)))
    invalidText(errors, at, goList('string', versions), `must include at least one of ${reviewVersions.join(', ')}`);
}
