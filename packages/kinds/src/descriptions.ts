/**
 * What kinds and fields mean, for the published schema documents. The texts stand next to the schemas, in files
 * `*.descriptions.ts` and `schema/descriptions.ts`; this module puts them together. They are large and nothing else needs
 * them: only the code that makes the documents imports this module, when the first one is requested.
 *
 * Messages are found without their version (`core.v1.PodSpec` → `core.PodSpec`), because versions agree on meanings.
 */

import { own } from '@plat-dev/lib/own';
import { admissionregistration } from './admissionregistration/schema/descriptions.ts';
import { policies as admissionPolicies } from './admissionregistration/schema/policies.descriptions.ts';
import { apiextensions } from './apiextensions/schema/descriptions.ts';
import { apiregistration } from './apiregistration/schema/descriptions.ts';
import { apiserverinternal } from './apiserverinternal/schema/descriptions.ts';
import { apps } from './apps/schema/descriptions.ts';
import { authentication } from './authentication/schema/descriptions.ts';
import { authorization } from './authorization/schema/descriptions.ts';
import { autoscaling } from './autoscaling/schema/descriptions.ts';
import { batch } from './batch/schema/descriptions.ts';
import { certificates } from './certificates/schema/descriptions.ts';
import { coordination } from './coordination/schema/descriptions.ts';
import { cluster as coreCluster } from './core/schema/cluster.descriptions.ts';
import { config as coreConfig } from './core/schema/config.descriptions.ts';
import { events as coreEvents } from './core/schema/events.descriptions.ts';
import { namespace as coreNamespace } from './core/schema/namespace.descriptions.ts';
import { node as coreNode } from './core/schema/node.descriptions.ts';
import { containerStatus as coreContainerStatus } from './core/schema/pods/container-status.descriptions.ts';
import { containers as coreContainers } from './core/schema/pods/containers.descriptions.ts';
import { pod as corePod } from './core/schema/pods/pod.descriptions.ts';
import { podOptions as corePodOptions } from './core/schema/pods/pod-options.descriptions.ts';
import { probes as coreProbes } from './core/schema/pods/probes.descriptions.ts';
import { scheduling as coreScheduling } from './core/schema/pods/scheduling.descriptions.ts';
import { securityContext as coreSecurityContext } from './core/schema/pods/security-context.descriptions.ts';
import { quota as coreQuota } from './core/schema/quota.descriptions.ts';
import { references as coreReferences } from './core/schema/references.descriptions.ts';
import { replicationController as coreReplicationController } from './core/schema/replication-controller.descriptions.ts';
import { resources as coreResources } from './core/schema/resources.descriptions.ts';
import { service as coreService } from './core/schema/service.descriptions.ts';
import { disks as coreDisks } from './core/schema/volumes/disks.descriptions.ts';
import { networkDisks as coreNetworkDisks } from './core/schema/volumes/network-disks.descriptions.ts';
import { persistentVolumes as corePersistentVolumes } from './core/schema/volumes/persistent-volumes.descriptions.ts';
import { volumes as coreVolumes } from './core/schema/volumes/volumes.descriptions.ts';
import type { Descriptions } from './description-texts.ts';
import { discovery } from './discovery/schema/descriptions.ts';
import { events } from './events/schema/descriptions.ts';
import { explain } from './explain/schema/descriptions.ts';
import { objectExplanations } from './explain/schema/object-descriptions.ts';
import { flowcontrol } from './flowcontrol/schema/descriptions.ts';
import { meta } from './meta.descriptions.ts';
import { networking } from './networking/schema/descriptions.ts';
import { serviceAddresses } from './networking/schema/service-addresses.descriptions.ts';
import { newerDescriptions } from './newer.descriptions.ts';
import { node } from './node/schema/descriptions.ts';
import { olderDescriptions } from './older.descriptions.ts';
import { policy } from './policy/schema/descriptions.ts';
import { rbac } from './rbac/schema/descriptions.ts';
import { resource } from './resource/schema/descriptions.ts';
import { scalars } from './scalars.descriptions.ts';
import { schedulingGroup } from './scheduling/schema/descriptions.ts';
import { workloads } from './scheduling/schema/workloads.descriptions.ts';
import { storage } from './storage/schema/descriptions.ts';
import { storagemigration } from './storagemigration/schema/descriptions.ts';

/** Every description, by message without its version. */
export const descriptions: Descriptions = {
  ...admissionPolicies,
  ...admissionregistration,
  ...apiextensions,
  ...apiregistration,
  ...apiserverinternal,
  ...apps,
  ...authentication,
  ...authorization,
  ...explain,
  ...objectExplanations,
  ...autoscaling,
  ...batch,
  ...certificates,
  ...coordination,
  ...coreCluster,
  ...coreConfig,
  ...coreContainerStatus,
  ...coreContainers,
  ...coreDisks,
  ...coreEvents,
  ...coreNamespace,
  ...coreNetworkDisks,
  ...coreNode,
  ...corePersistentVolumes,
  ...corePodOptions,
  ...corePod,
  ...coreProbes,
  ...coreQuota,
  ...coreReferences,
  ...coreReplicationController,
  ...coreResources,
  ...coreScheduling,
  ...coreSecurityContext,
  ...coreService,
  ...coreVolumes,
  ...discovery,
  ...events,
  ...flowcontrol,
  ...meta,
  ...networking,
  ...newerDescriptions,
  ...node,
  ...policy,
  ...rbac,
  ...resource,
  ...scalars,
  ...schedulingGroup,
  ...serviceAddresses,
  ...storage,
  ...storagemigration,
  ...workloads,
};

const objectFields: Readonly<Record<string, string>> = {
  apiVersion:
    'APIVersion defines the group and version of the schema that this object is written in, such as apps/v1, or v1 for the core group.',
  kind: 'Kind is a string value that names the type of this object in CamelCase, such as Pod. It cannot be changed.',
  metadata: "Standard object's metadata: name, namespace, labels and what else every object has.",
};
const listMetadata = 'The version that the list was read at, and how to continue if it is not complete.';

const conditionFields: Readonly<Record<string, string>> = {
  type: 'Type of the condition in CamelCase; a list has at most one condition of each type.',
  status: 'Whether the condition holds: True, False, or Unknown if that could not be determined.',
  reason: 'Why the condition last changed, as one CamelCase word for programs.',
  message: 'Details about the last change, for people to read.',
  lastTransitionTime: 'When the status of the condition last changed from one value to another.',
  lastUpdateTime: 'When the condition was last written, even if its status stayed the same.',
  lastProbeTime: 'When the condition was last checked.',
};

const withoutVersion = (message: string): string => message.replace(/\.v\d[a-z0-9]*\./, '.');
const shortName = (message: string): string => message.slice(message.lastIndexOf('.') + 1);
/** `core.PodList` → `Pod`; undefined for what is not a list. */
const itemKind = (key: string): string | undefined => (key.endsWith('List') ? shortName(key).slice(0, -'List'.length) : undefined);
/** `Pod` → `pods`, `CSIStorageCapacity` → `CSI storage capacities`. */
function pluralOf(kind: string): string {
  const words = (kind.match(/[A-Z]+(?![a-z])|[A-Z][a-z]+/g) ?? [])
    .map((word) => (/[a-z]/.test(word) ? word.toLowerCase() : word))
    .join(' ');
  if (/(s|u)s$/.test(words)) return `${words}es`;
  if (/[^aeiou]y$/.test(words)) return words.replace(/y$/, 'ies');
  return words.endsWith('s') ? words : `${words}s`;
}
function fieldOf(texts: Readonly<Record<string, string>>, key: string, field: string): string | undefined {
  const text = own(texts, field);
  if (text !== undefined) return text;
  const item = itemKind(key);
  if (item !== undefined && field === 'items') return `List of ${pluralOf(item)}.`;
  if (item !== undefined && field === 'metadata') return listMetadata;
  // Schema extensions carry the prefix of the identity: `x-DOMAIN-list-type` is described under `x-list-type`.
  if (field.startsWith('x-')) return Object.entries(texts).find(([name]) => name.startsWith('x-') && field.endsWith(name.slice(1)))?.[1];
  return (key.endsWith('Condition') ? own(conditionFields, field) : undefined) ?? own(objectFields, field);
}

/** Kinds of this group are described where they have moved to. */
const extensions = 'extensions.';
const homes = ['apps.', 'networking.', 'policy.'];

function textsOf(key: string): Readonly<Record<string, string>> {
  const movedTexts = key.startsWith(extensions) ? homes.map((home) => textsOf(home + key.slice(extensions.length))) : [];
  const texts = own(descriptions, key) ?? {};
  const older = own(olderDescriptions, key);
  return older === undefined && movedTexts.length === 0
    ? texts
    : Object.fromEntries([...movedTexts, older ?? {}, texts].flatMap((each) => Object.entries(each)));
}

/** The description of a message (`core.v1.Pod`), or of one of its fields by JSON name. Undefined when there is none. */
export function descriptionOf(message: string, field?: string): string | undefined {
  const key = withoutVersion(message);
  const own = textsOf(key);
  if (field !== undefined) return fieldOf(own, key, field);
  if (own.$ !== undefined) return own.$;
  const item = itemKind(key);
  return item === undefined ? undefined : `A list of ${item} objects.`;
}
