/** The custom kinds of a server, those of its simulated nodes included. */
import { Definitions } from '@plat-dev/server/extension/definitions';
import { defineSimulation } from './background/simulated-nodes.ts';
import type { Base } from './base.ts';
import type { Access } from './requests/access.ts';
import { composeConversions } from './requests/conversion-webhooks.ts';
import type { State } from './state.ts';

export async function composeDefinitions(base: Base, { live }: State, { trust, registry, writer }: Access): Promise<Definitions> {
  const { identity, clock, log, parts, from } = base;
  const conversions = composeConversions(base, live, trust);
  const definitions = new Definitions({ registry, live, identity, clock, log, conversions, from: from?.definitions });
  parts.add('definitions', () => definitions.close());
  const addedDefinitions = await defineSimulation(base, writer);
  await definitions.start();
  if (addedDefinitions > 0) await definitions.settled();
  return definitions;
}
