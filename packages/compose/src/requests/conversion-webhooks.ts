/** What conversion webhooks of custom resources need of the server. */

import type { LiveSource } from '@plat-dev/kinds/live-view';
import { webhookAgent } from '@plat-dev/meta/identity';
import { WebhookClient } from '@plat-dev/server/admission/webhooks/client';
import { serviceResolver } from '@plat-dev/server/admission/webhooks/service';
import { conversionMetrics } from '@plat-dev/server/extension/conversion/conversion-metrics';
import type { DefinitionsOptions } from '@plat-dev/server/extension/definitions';
import type { Base } from '../base.ts';
import type { Trust } from '../credentials/trust.ts';

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
