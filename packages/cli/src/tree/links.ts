/** Objects that belong together without owner references: what an object names or selects. */

import type { StatefulSet } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { HorizontalPodAutoscaler } from '@plat-dev/kinds/autoscaling/schema/v2';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { Ingress, IngressBackend } from '@plat-dev/kinds/networking/schema/ingress';
import type { RoleBinding } from '@plat-dev/kinds/rbac/schema/v1';
import { own } from '@plat-dev/lib/own';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { fromLabels } from '@plat-dev/meta/labels';
import type { Described, ReadForm } from '../describe/values.ts';

/** One object by name, or those that a label selector selects. */
export interface Link {
  /** Group without suffix, and kind: `apps/Deployment`. */
  readonly kind: string;
  readonly name?: string;
  readonly selector?: string;
  /** Undefined for objects without one. */
  readonly namespace: string | undefined;
  /** The field that makes the link. */
  readonly via: string;
}
export interface LinkNames {
  /** The label by which the endpoint slices of a service are found. */
  readonly serviceNameLabel: string;
  /** Group without suffix of a full one. */
  base(group: string): string;
}

type Finder<T> = (object: Described<T>, names: LinkNames) => readonly Link[];

const claimsOfPod: Finder<Pod> = ({ metadata, spec = {} }) =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    const name = persistentVolumeClaim?.claimName;
    return name === undefined ? [] : [{ kind: '/PersistentVolumeClaim', name, namespace: metadata.namespace, via: 'claimName' }];
  });

const partsOfService: Finder<Service> = ({ metadata, spec = {} }, { serviceNameLabel }) => {
  const { name = '', namespace } = metadata;
  const selector = fromLabels(spec.selector ?? {}).toString();
  return [
    { kind: '/Endpoints', name, namespace, via: 'same name' },
    { kind: 'discovery/EndpointSlice', selector: `${serviceNameLabel}=${name}`, namespace, via: 'service-name label' },
    ...(selector === '' ? [] : [{ kind: '/Pod', selector, namespace, via: 'selector' }]),
  ];
};

const backendsOfIngress: Finder<Ingress> = ({ metadata, spec = {} }) => {
  const backends: (ReadForm<IngressBackend> | undefined)[] = [
    spec.defaultBackend,
    ...(spec.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ];
  const names = new Set(backends.flatMap((backend) => backend?.service?.name ?? []));
  return [...names].map((name) => ({ kind: '/Service', name, namespace: metadata.namespace, via: 'backend' }));
};

const targetOfAutoscaler: Finder<HorizontalPodAutoscaler> = ({ metadata, spec = {} }, { base }) => {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef ?? {};
  if (kind === undefined || name === undefined) return [];
  return [{ kind: `${base(groupOfApiVersion(apiVersion))}/${kind}`, name, namespace: metadata.namespace, via: 'scaleTargetRef' }];
};

const volumeOfClaim: Finder<PersistentVolumeClaim> = ({ spec = {} }) =>
  spec.volumeName ? [{ kind: '/PersistentVolume', name: spec.volumeName, namespace: undefined, via: 'volumeName' }] : [];

const claimOfVolume: Finder<PersistentVolume> = ({ spec = {} }) => {
  const { name, namespace } = spec.claimRef ?? {};
  return name === undefined ? [] : [{ kind: '/PersistentVolumeClaim', name, namespace, via: 'claimRef' }];
};

const partsOfBinding: Finder<RoleBinding> = ({ metadata, roleRef = {}, subjects = [] }) => {
  const { kind = '', name } = roleRef;
  const role: Link[] =
    name === undefined
      ? []
      : [{ kind: `rbac.authorization/${kind}`, name, namespace: kind === 'Role' ? metadata.namespace : undefined, via: 'roleRef' }];
  const accounts = subjects.flatMap((subject) =>
    subject.kind !== 'ServiceAccount' || subject.name === undefined
      ? []
      : [{ kind: '/ServiceAccount', name: subject.name, namespace: subject.namespace, via: 'subjects' }],
  );
  return [...role, ...accounts];
};

const serviceOfSet: Finder<StatefulSet> = ({ metadata, spec = {} }) =>
  spec.serviceName ? [{ kind: '/Service', name: spec.serviceName, namespace: metadata.namespace, via: 'serviceName' }] : [];

const finders: Readonly<Record<string, Finder<never>>> = {
  '/PersistentVolume': claimOfVolume as Finder<never>,
  '/PersistentVolumeClaim': volumeOfClaim as Finder<never>,
  '/Pod': claimsOfPod as Finder<never>,
  '/Service': partsOfService as Finder<never>,
  'apps/StatefulSet': serviceOfSet as Finder<never>,
  'autoscaling/HorizontalPodAutoscaler': targetOfAutoscaler as Finder<never>,
  'networking/Ingress': backendsOfIngress as Finder<never>,
  'rbac.authorization/ClusterRoleBinding': partsOfBinding as Finder<never>,
  'rbac.authorization/RoleBinding': partsOfBinding as Finder<never>,
};

/** What an object names or selects. */
export const linksOf = (kind: string, object: Described<never>, names: LinkNames): readonly Link[] =>
  own(finders, kind)?.(object, names) ?? [];

const scaled = ['autoscaling/HorizontalPodAutoscaler'];
const bindings = ['rbac.authorization/RoleBinding', 'rbac.authorization/ClusterRoleBinding'];
const referrers: Readonly<Record<string, readonly string[]>> = {
  '/PersistentVolume': ['/PersistentVolumeClaim'],
  '/PersistentVolumeClaim': ['/PersistentVolume', '/Pod'],
  '/Pod': ['/Service'],
  '/ReplicationController': scaled,
  '/Service': ['networking/Ingress', 'apps/StatefulSet'],
  '/ServiceAccount': bindings,
  'apps/Deployment': scaled,
  'apps/ReplicaSet': scaled,
  'apps/StatefulSet': scaled,
  'rbac.authorization/ClusterRole': bindings,
  'rbac.authorization/Role': ['rbac.authorization/RoleBinding'],
};
/** Kinds whose objects may name or select one of this kind; custom kinds may be scaled. */
export const referrersOf = (kind: string, isBuiltIn: boolean): readonly string[] => own(referrers, kind) ?? (isBuiltIn ? [] : scaled);
