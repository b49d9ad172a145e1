import type { MatchCondition } from '@plat-dev/kinds/admissionregistration/schema/policies';
import type { WebhookClientConfig } from '@plat-dev/kinds/admissionregistration/schema/v1';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Criteria } from '../matching/match.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

export interface Webhook extends Criteria {
  /** Unique, also for webhooks of the same name. */
  readonly id: string;
  /** Index among all webhooks of its type. */
  readonly index: number;
  readonly configuration: string;
  readonly name: string;
  readonly client: WebhookClientConfig;
  readonly conditions: readonly MatchCondition[];
  readonly failOpen: boolean;
  readonly timeoutMs: number;
  /** The first version in the webhook's list that this server supports; undefined: none. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** May be called for a dry run. */
  readonly dryRunnable: boolean;
  readonly reinvocable: boolean;
}

/** A webhook that is to be called, and the version in which it takes the object. */
export interface Call {
  readonly webhook: Webhook;
  readonly served: ServedKind;
}
