/**
 * PersistentVolumeLabel: labels a volume with its region and zone, so that it is used there only. Labels of the
 * provisioner are kept; for other volumes the configuration has the zone (volume-places.ts): there is no cloud provider here
 * that could be asked.
 */

import type { NodeSelectorRequirement } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { type Place, placeOf, readPlaces, ZONE_DELIMITER } from './volume-places.ts';

export const persistentVolumeLabel: MakePlugin = ({ identity, live, log }, configuration) => {
  const zoneLabel = domainName(identity, 'zone', 'topology');
  const regionLabel = domainName(identity, 'region', 'topology');
  const provisioned = domainName(identity, 'provisioned-by', 'pv');
  const tables = configuration === undefined ? undefined : readPlaces(configuration, identity, live);
  if (tables === undefined)
    log.warn('admission plug-in without configuration labels no volumes', {
      plugin: 'PersistentVolumeLabel',
      needed: 'an entry in --admission-control-config-file',
    });

  const cachedPlace = (volume: PersistentVolume): Place | undefined => {
    const { labels, annotations } = volume.metadata;
    const [zone, region] = [labels?.[zoneLabel], labels?.[regionLabel]];
    if (zone !== undefined && region !== undefined && annotations?.[provisioned] !== undefined) return { zone, region };
    return tables && placeOf(volume, tables, identity);
  };
  return {
    name: 'PersistentVolumeLabel',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('persistentvolumes'),
    admit({ object, subresource }) {
      if (subresource !== '') return;
      const volume = object as unknown as PersistentVolume;
      const place = cachedPlace(volume);
      if (place === undefined) return;
      const { region, zone } = place;
      const requirements: NodeSelectorRequirement[] = [];
      // Labels with other values are replaced: the client that creates the object does not decide where the volume is.
      volume.metadata.labels ??= {};
      if (region !== undefined) {
        volume.metadata.labels[regionLabel] = region;
        requirements.push({ key: regionLabel, operator: 'In', values: [region] });
      }
      if (zone !== undefined) {
        volume.metadata.labels[zoneLabel] = zone;
        requirements.push({ key: zoneLabel, operator: 'In', values: zone.split(ZONE_DELIMITER).sort() });
      }
      restrict(volume, requirements);
    },
  };
};

/** Adds the requirements to every term, unless one of the terms has a requirement on the same labels. */
function restrict({ spec }: PersistentVolume, requirements: readonly NodeSelectorRequirement[]): void {
  spec.nodeAffinity ??= {};
  spec.nodeAffinity.required ??= {};
  const { required } = spec.nodeAffinity;
  if ((required.nodeSelectorTerms ?? []).length === 0) required.nodeSelectorTerms = [{}];
  const terms = required.nodeSelectorTerms ?? [];
  const hasKey = (key: string): boolean => terms.some((term) => term.matchExpressions?.some((one) => one.key === key));
  if (requirements.some(({ key }) => hasKey(key))) return;
  for (const term of terms) term.matchExpressions = [...(term.matchExpressions ?? []), ...structuredClone(requirements)];
}
