/** What conversion webhooks of custom resources need of the server. */
import { WebhookClient } from '../admission/webhooks/client.ts';
import { serviceResolver } from '../admission/webhooks/service.ts';
import { conversionMetrics } from '../extension/conversion/conversion-metrics.ts';
import type { DefinitionsOptions } from '../extension/definitions.ts';
import type { LiveSource } from '../kinds/live.ts';
import { webhookAgent } from '../meta/identity.ts';
import type { Base } from './base.ts';
import type { Trust } from './trust.ts';

export function composeConversions(
  { identity, metrics, clock, random }: Base,
  live: LiveSource,
  { own }: Trust,
): DefinitionsOptions['conversions'] {
  return {
    identity,
    client: new WebhookClient({
      clock,
      // A conversion webhook does not get the fields that only this server uses.
      credentials: () => ({}),
      resolve: serviceResolver(live, random.below),
      userAgent: webhookAgent(identity),
      isOwn: (certificate) => own.has(certificate),
    }),
    newUid: random.uuid,
    now: () => clock.monotonic(),
    observe: conversionMetrics(metrics),
  };
}
