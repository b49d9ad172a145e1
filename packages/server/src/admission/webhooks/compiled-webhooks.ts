/** Webhooks of the configurations, compiled for matching. */

import type { MutatingWebhook, ValidatingWebhook } from '@plat-dev/kinds/admissionregistration/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { Matcher } from '../matching/match.ts';
import type { ReviewVersion, Webhook } from './webhook.ts';

export type ConfigurationObject = ApiObject & { readonly webhooks?: readonly (MutatingWebhook | ValidatingWebhook)[] | null };

const DEFAULT_TIMEOUT_SECONDS = 10;
const supportedVersions: readonly string[] = ['v1', 'v1beta1'];

/** All webhooks of one type, in the order in which they are called. Compiled again when a configuration changes. */
export class WebhookSource {
  private readonly live: LiveView<ConfigurationObject> | undefined;
  private readonly changed: (webhooks: readonly Webhook[]) => void;
  private asOf = -1;
  private matcher = new Matcher<Webhook>([]);

  /** `changed` is called with the remaining webhooks after each change. */
  constructor(live: LiveView<ConfigurationObject> | undefined, changed: (webhooks: readonly Webhook[]) => void) {
    this.live = live;
    this.changed = changed;
  }
  current(): Matcher<Webhook> {
    if (this.live !== undefined && this.asOf !== this.live.generation) {
      this.asOf = this.live.generation;
      const webhooks = compile(this.live.list());
      this.matcher = new Matcher(webhooks);
      this.changed(webhooks);
    }
    return this.matcher;
  }
}

/** Configurations are ordered by name, the webhooks of one in the order listed. */
export function compile(configurations: readonly ConfigurationObject[]): Webhook[] {
  const sorted = [...configurations].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const compiled: Webhook[] = [];
  for (const { metadata, webhooks } of sorted) {
    const configuration = metadata.name ?? '';
    (webhooks ?? []).forEach((webhook, i) => {
      compiled.push({
        id: `${configuration}/${webhook.name}/${i}`,
        index: compiled.length,
        configuration,
        name: webhook.name,
        client: webhook.clientConfig,
        rules: webhook.rules ?? [],
        conditions: webhook.matchConditions ?? [],
        namespaceSelector: fromLabelSelector(webhook.namespaceSelector ?? {}),
        objectSelector: fromLabelSelector(webhook.objectSelector ?? {}),
        equivalent: (webhook.matchPolicy ?? 'Equivalent') === 'Equivalent',
        failOpen: webhook.failurePolicy === 'Ignore',
        timeoutMs: (webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
        reviewVersion: (webhook.admissionReviewVersions ?? []).find((version) => supportedVersions.includes(version)) as
          | ReviewVersion
          | undefined,
        dryRunnable: webhook.sideEffects === 'None' || webhook.sideEffects === 'NoneOnDryRun',
        reinvocable: (webhook as MutatingWebhook).reinvocationPolicy === 'IfNeeded',
      });
    });
  }
  return compiled;
}
