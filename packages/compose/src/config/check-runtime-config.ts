/** Holds `--runtime-config` against what this server has: a key that names nothing is a mistake, which ends the start. */

import type { Kind } from '@plat-dev/kinds/kind';
import { FlagError } from '@plat-dev/lib/flags';
import { editDistance } from '@plat-dev/lib/suggest';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { RuntimeConfig } from './runtime-config.ts';

/** Throws FlagError for the first key that names nothing, with the known key that is nearest to it. */
export function checkRuntimeConfig(config: RuntimeConfig, identity: Identity, kinds: readonly Kind[]): void {
  if (config.settings.length === 0) return;
  // Nothing is served under it; the plug-in that asks such a service runs only where it is switched on.
  const servedKeys = new Set([keyOf(groupName(identity, 'imagepolicy'), 'v1alpha1', undefined)]);
  for (const { group: base, versions, plural } of kinds) {
    const group = groupName(identity, base);
    for (const version of Object.keys(versions)) servedKeys.add(keyOf(group, version, undefined)).add(keyOf(group, version, plural));
  }
  const [unknown] = config.unknown((group, version, resource) => servedKeys.has(keyOf(group, version, resource)));
  if (unknown === undefined) return;
  throw new FlagError(
    `--runtime-config: ${JSON.stringify(unknown)} names nothing that this server has; the nearest is ${nearestTo(unknown, servedKeys)}`,
  );
}

const keyOf = (group: string, version: string, resource: string | undefined): string =>
  [group, version, resource].filter((part) => part !== undefined && part !== '').join('/');

function nearestTo(key: string, servedKeys: ReadonlySet<string>): string {
  const text = key.slice(0, 100);
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (const servedKey of servedKeys) {
    const distance = editDistance(text, servedKey);
    if (distance < least) [best, least] = [servedKey, distance];
  }
  return best;
}
