import type { RuleWithOperations, WebhookClientConfig } from '@plat-dev/kinds/admissionregistration/schema/v1';
import type { LabelSelector } from '@plat-dev/meta/labels';

export type RuleObject = RuleWithOperations;

export type ReviewVersion = 'v1' | 'v1beta1';

export interface Webhook {
  /** Unique, also for webhooks of the same name. */
  readonly id: string;
  /** Index among all webhooks of its type. */
  readonly index: number;
  readonly configuration: string;
  readonly name: string;
  readonly client: WebhookClientConfig;
  readonly rules: readonly RuleObject[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** Requests in another version of the same objects match, too. */
  readonly equivalent: boolean;
  readonly failOpen: boolean;
  readonly timeoutMs: number;
  /** The first version in the webhook's list that this server supports; undefined: none. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** May be called for a dry run. */
  readonly dryRunnable: boolean;
  readonly reinvocable: boolean;
}
