/**
 * LimitPodHardAntiAffinityTopology: required anti-affinity of a pod may cover its own node, but not a whole zone, which would
 * block the zone for everybody else.
 */
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';

export const limitPodHardAntiAffinityTopology: MakePlugin = ({ identity }) => {
  const allowed = domainName(identity, 'hostname');
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    validate(request) {
      const terms = podOf(request)?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      for (const { topologyKey } of terms ?? []) {
        if (topologyKey === allowed) continue;
        throw refusal(
          request,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${allowed} is allowed`,
        );
      }
    },
  };
};
