/** What conversions of custom objects by webhooks need of the server. */
import { WebhookClient } from '../admission/webhooks/client.ts';
import { serviceResolver } from '../admission/webhooks/service.ts';
import { conversionMetrics } from '../extension/conversion/metrics.ts';
import type { DefinitionsOptions } from '../extension/definitions.ts';
import { type Identity, webhookAgent } from '../identity.ts';
import type { LiveSource } from '../kinds/live.ts';
import { systemClock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { systemRandom } from '../lib/random.ts';
import type { Trust } from './trust.ts';

export function composeConversions(
  identity: Identity,
  live: LiveSource,
  metrics: Metrics,
  { own }: Trust,
): DefinitionsOptions['conversions'] {
  return {
    identity,
    client: new WebhookClient({
      // Who converts is told nothing that only this server knows.
      credentials: () => ({}),
      resolve: serviceResolver(live, systemRandom.below),
      userAgent: webhookAgent(identity),
      isOwn: (certificate) => own.has(certificate),
    }),
    newUid: systemRandom.uuid,
    now: systemClock.monotonic,
    observe: conversionMetrics(metrics),
  };
}
