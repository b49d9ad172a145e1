/** The pods of a stateful set and their claims: each has an ordinal, which is part of its name. */
import type { StatefulSet } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { Wire } from '@plat-dev/kinds/wire';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { revisionLabel } from '../revisions/revision.ts';
import type { About } from '../shared/events.ts';
import { podFrom, type Template } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';

export type StatefulSetObject = Wire<StatefulSet>;
export type Claim = Wire<PersistentVolumeClaim>;
type Volume = NonNullable<NonNullable<WorkloadPod['spec']>['volumes']>[number];

const memberName = /^(.+)-(0|[1-9]\d{0,8})$/;

/** `web-3` → the set `web` and the ordinal 3; undefined for names that no member of a set has. */
export function memberOf(name: string): { readonly set: string; readonly ordinal: number } | undefined {
  const match = memberName.exec(name);
  return match === null ? undefined : { set: match[1] as string, ordinal: Number(match[2]) };
}
/** The ordinal of a member of any set; -1 for other pods. */
export const ordinalOf = ({ metadata }: WorkloadPod): number => memberOf(metadata.name ?? '')?.ordinal ?? -1;
export const revisionOf = ({ metadata }: WorkloadPod): string => metadata.labels?.[revisionLabel] ?? '';
/** The label with the name of the pod, by which a service can select one member. */
export const podNameLabel = (identity: Identity): QualifiedName => domainName(identity, 'pod-name', 'statefulset');

export const aboutSet = ({ metadata }: StatefulSetObject): About => ({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata });
export const templateOf = ({ spec }: StatefulSetObject): Template => spec?.template ?? ({} as Template);

/** The member of a set with an ordinal, as a template has it. */
export function memberPod(set: StatefulSetObject, template: Template, ordinal: number, revision: string, identity: Identity): WorkloadPod {
  const pod = podFrom(template, aboutSet(set));
  const name = `${set.metadata.name}-${ordinal}`;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: { ...pod.metadata.labels, [podNameLabel(identity)]: name, [revisionLabel]: revision },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      subdomain: set.spec?.serviceName ?? '',
      ...volumesOf(set, pod.spec?.volumes, ordinal),
    },
  } as WorkloadPod;
}

/** The volumes of the claim templates take the place of those of the same name in the pod template. */
function volumesOf(set: StatefulSetObject, templateVolumes: readonly Volume[] | undefined, ordinal: number): { volumes?: Volume[] } {
  const claims = claimsOf(set, ordinal);
  const names = new Set(claims.keys());
  const others = (templateVolumes ?? []).filter(({ name }) => !names.has(name));
  if (claims.size === 0 && others.length === 0) return {};
  const mounted = [...claims].map(([name, claim]) => ({ name, persistentVolumeClaim: { claimName: claim.metadata.name ?? '' } }));
  return { volumes: [...(mounted as Volume[]), ...others] };
}

/** The claims of a member, by the name of the template, which is that of the volume as well. */
export function claimsOf(set: StatefulSetObject, ordinal: number): Map<string, Claim> {
  const { namespace = '', name: setName } = set.metadata;
  const claims = new Map<string, Claim>();
  for (const { metadata, spec } of set.spec?.volumeClaimTemplates ?? []) {
    const { name = '', annotations } = metadata ?? {};
    const labels = { ...metadata?.labels, ...set.spec?.selector?.matchLabels };
    claims.set(name, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: `${name}-${setName}-${ordinal}`,
        namespace,
        ...(Object.keys(labels).length > 0 && { labels }),
        ...(annotations !== undefined && { annotations }),
      },
      spec,
    } as Claim);
  }
  return claims;
}

/** Whether a member has its label and the volumes of its claims. Pods that were adopted may lack them. */
export function hasIdentity(set: StatefulSetObject, pod: WorkloadPod, identity: Identity): boolean {
  return pod.metadata.labels?.[podNameLabel(identity)] === pod.metadata.name && hasClaims(set, pod);
}
function hasClaims(set: StatefulSetObject, pod: WorkloadPod): boolean {
  if ((set.spec?.volumeClaimTemplates ?? []).length === 0) return true;
  const mounted = new Map((pod.spec?.volumes ?? []).map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName]));
  for (const [volume, { metadata }] of claimsOf(set, ordinalOf(pod))) if (mounted.get(volume) !== metadata.name) return false;
  return true;
}
/** The same pod with its label and the volumes of its claims. */
export function withIdentity(set: StatefulSetObject, pod: WorkloadPod, identity: Identity): WorkloadPod {
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [podNameLabel(identity)]: pod.metadata.name ?? '' } },
    spec: { ...pod.spec, ...(!hasClaims(set, pod) && volumesOf(set, pod.spec?.volumes, ordinalOf(pod))) },
  } as WorkloadPod;
}
