/**
 * The parts of pods that controllers use. Pods are many and large, so nothing else is kept, in one shared informer
 * that exists only while it is used.
 */

import type { Informer } from '@plat-dev/client/informer';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import { refs } from './controller.ts';
import type { Informers } from './informers.ts';

export interface SlimPod extends ApiObject {
  spec: {
    nodeName?: string;
    hostname?: string;
    subdomain?: string;
    /** Claims that the pod uses, by name. */
    claims?: string[];
    /** Ports of containers that have a name. */
    ports?: { name: string; protocol: string; port: number }[];
  };
  status: {
    phase?: string;
    ready: boolean;
    /** When the pod became ready, or ceased to be. */
    readySince?: string;
    ips?: string[];
  };
}

/** A pod as received, with the fields that are used here. */
export type WirePod = Wire<Pod>;

export function slimPods(informers: Informers): Informer<SlimPod> {
  return informers.of<SlimPod>(refs.pods, {
    form: 'slim',
    keep: (pod) => slim(pod as unknown as WirePod),
    alike: alikePods,
    takesWritersObjects: true,
  });
}

/** Pods of one owner in the same phase differ in little more than their names and addresses. */
export function alikePods({
  metadata,
  status,
}: ApiObject & { readonly status?: { readonly phase?: string | undefined } | undefined }): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return `${owner?.uid ?? metadata.namespace}/${status?.phase ?? ''}`;
}

/** Claims that a pod uses. The claim of an ephemeral volume is named after the pod and the volume. */
export function claimsOf(pod: WirePod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name}-${volume.name}`];
  });
}

function slim(pod: WirePod): SlimPod {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp, ownerReferences } = pod.metadata;
  const { nodeName, hostname, subdomain, containers = [] } = pod.spec ?? {};
  const { phase, podIP, podIPs = [], conditions = [] } = pod.status ?? {};
  const controller = ownerReferences?.find((owner) => owner.controller === true);
  const readiness = conditions.find((condition) => condition.type === 'Ready');
  const claims = claimsOf(pod);
  const ports = containers.flatMap((container) =>
    (container.ports ?? []).flatMap(({ name: port = '', protocol = 'TCP', containerPort }) =>
      port === '' ? [] : [{ name: port, protocol, port: containerPort }],
    ),
  );
  const ips = podIPs.length > 0 ? podIPs.flatMap(({ ip }) => ip ?? []) : podIP === undefined || podIP === '' ? [] : [podIP];
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(labels !== undefined && { labels }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(controller !== undefined && { ownerReferences: [controller] }),
    },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      ...(hostname !== undefined && { hostname }),
      ...(subdomain !== undefined && { subdomain }),
      ...(claims.length > 0 && { claims }),
      ...(ports.length > 0 && { ports }),
    },
    status: {
      ...(phase !== undefined && { phase }),
      ready: readiness?.status === 'True',
      ...(typeof readiness?.lastTransitionTime === 'string' && { readySince: readiness.lastTransitionTime }),
      ...(ips.length > 0 && { ips }),
    },
  } as SlimPod;
}
