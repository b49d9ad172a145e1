/**
 * PersistentVolumeLabel: a volume that was made for one region and zone is used there only. Only volumes that carry both
 * labels from whoever made them are concerned: there is no cloud here that could be asked about others.
 */
import { domainName } from '../../identity.ts';
import type { PersistentVolume } from '../../kinds/core/schema/persistent-volumes.ts';
import type { NodeSelectorRequirement } from '../../kinds/core/schema/scheduling.ts';
import { kinds, type MakePlugin } from '../plugin.ts';

/** Between the zones of a volume that is in several. */
const ZONE_DELIMITER = '__';

export const persistentVolumeLabel: MakePlugin = ({ identity }) => {
  const zoneLabel = domainName(identity, 'zone', 'topology');
  const regionLabel = domainName(identity, 'region', 'topology');
  const provisioned = domainName(identity, 'provisioned-by', 'pv');
  return {
    name: 'PersistentVolumeLabel',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('persistentvolumes'),
    admit({ object, subresource }) {
      if (subresource !== '') return;
      const { metadata, spec } = object as unknown as PersistentVolume;
      const zone = metadata.labels?.[zoneLabel];
      const region = metadata.labels?.[regionLabel];
      if (zone === undefined || region === undefined || metadata.annotations?.[provisioned] === undefined) return;
      const needed: NodeSelectorRequirement[] = [
        { key: regionLabel, operator: 'In', values: [region] },
        { key: zoneLabel, operator: 'In', values: zone.split(ZONE_DELIMITER).sort() },
      ];
      spec.nodeAffinity ??= {};
      spec.nodeAffinity.required ??= {};
      const { required } = spec.nodeAffinity;
      if ((required.nodeSelectorTerms ?? []).length === 0) required.nodeSelectorTerms = [{}];
      const terms = required.nodeSelectorTerms ?? [];
      const named = (key: string): boolean => terms.some((term) => term.matchExpressions?.some((one) => one.key === key));
      if (needed.some(({ key }) => named(key))) return;
      for (const term of terms) term.matchExpressions = [...(term.matchExpressions ?? []), ...structuredClone(needed)];
    },
  };
};
