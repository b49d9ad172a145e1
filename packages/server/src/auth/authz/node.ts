/**
 * The permissions of a node agent: those of every node (the rules of `system:node`), and of secrets, config maps, claims,
 * volumes and service accounts only those that pods on the node refer to.
 */

import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { ResourceSlice } from '@plat-dev/kinds/resource/schema/slices';
import type { VolumeAttachment } from '@plat-dev/kinds/storage/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { nodeRules } from '../bootstrap/cluster-roles.ts';
import { type ReleaseChoice, rule } from '../bootstrap/notation.ts';
import { type Attributes, type Authorizer, type Decision, noOpinion, type RuleSet, type User, wellKnown } from '../types.ts';
import { allowed, getOne, no, ownNode, ownStorageNode, ownVerbs, podOfNode, related, sliceOfNode, writeStatus } from './node-objects.ts';
import {
  needKey,
  needsOfPod,
  type PersistentVolumeObject,
  type PodObject,
  type ReferencedKind,
  secretsOfVolume,
} from './pod-references.ts';
import { noRules } from './simple.ts';
import { RuleIndex } from './subject-rules.ts';

/** The node's name if the user is a node agent. */
function nodeOf(user: User): string | undefined {
  if (!user.name.startsWith(wellKnown.nodePrefix) || !user.groups.includes(wellKnown.nodes)) return undefined;
  return user.name.slice(wellKnown.nodePrefix.length);
}

const deviceClaimsOf = ({ status }: PodObject): readonly (string | undefined)[] => [
  status?.extendedResourceClaimStatus?.resourceClaimName,
  ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
];
const sameDeviceClaims = (pod: PodObject, old: PodObject): boolean => {
  const [claims, oldClaims] = [deviceClaimsOf(pod), deviceClaimsOf(old)];
  return claims.length === oldClaims.length && claims.every((claim, index) => claim === oldClaims[index]);
};

/** The objects that nodes need, counted by pods. */
class Needs {
  private readonly nodes = new Map<string, Map<string, number>>();
  private readonly volumesBySecret = new Map<string, Set<string>>();
  private readonly volumes: LiveView<PersistentVolumeObject>;
  private readonly mirror: string;

  constructor(live: LiveSource, identity: Identity) {
    this.mirror = domainName(identity, 'config.mirror');
    const pods = live<PodObject>('', 'pods');
    this.volumes = live<PersistentVolumeObject>('', 'persistentvolumes');
    pods.onChange(({ type, object, old }) => {
      if (type === 'modified' && old !== undefined && this.sameNeeds(object, old)) return;
      if (old !== undefined) this.count(old, -1);
      if (type !== 'deleted') this.count(object, 1);
    });
    this.volumes.onChange(({ type, object, old }) => {
      if (old !== undefined) this.link(old, false);
      if (type !== 'deleted') this.link(object, true);
    });
    for (const pod of pods.list()) this.count(pod, 1);
    for (const volume of this.volumes.list()) this.link(volume, true);
  }

  /** After a pod is bound to a node, only ephemeral containers and claims that were made for it can add references. */
  private sameNeeds(pod: PodObject, old: PodObject): boolean {
    return (
      pod.metadata.uid === old.metadata.uid &&
      pod.spec?.nodeName === old.spec?.nodeName &&
      (pod.spec?.ephemeralContainers?.length ?? 0) === (old.spec?.ephemeralContainers?.length ?? 0) &&
      sameDeviceClaims(pod, old)
    );
  }

  private count(pod: PodObject, by: 1 | -1): void {
    const node = pod.spec?.nodeName ?? '';
    // A mirror pod is written by the node itself, and grants it nothing.
    if (node === '' || own(pod.metadata.annotations, this.mirror) !== undefined) return;
    for (const key of needsOfPod(pod)) {
      let nodes = this.nodes.get(key);
      if (nodes === undefined) {
        nodes = new Map();
        this.nodes.set(key, nodes);
      }
      const pods = (nodes.get(node) ?? 0) + by;
      if (pods > 0) nodes.set(node, pods);
      else nodes.delete(node);
      if (nodes.size === 0) this.nodes.delete(key);
    }
  }

  private link(volume: PersistentVolumeObject, present: boolean): void {
    const name = volume.metadata.name ?? '';
    for (const key of secretsOfVolume(volume)) {
      const volumes = this.volumesBySecret.get(key) ?? new Set();
      if (present) volumes.add(name);
      else volumes.delete(name);
      if (volumes.size > 0) this.volumesBySecret.set(key, volumes);
      else this.volumesBySecret.delete(key);
    }
  }

  has(node: string, kind: ReferencedKind, namespace: string, name: string): boolean {
    const key = needKey(kind, namespace, name);
    if (this.nodes.get(key)?.has(node) === true) return true;
    if (kind !== 'secret') return false;
    for (const volume of this.volumesBySecret.get(key) ?? []) if (this.hasVolume(node, volume)) return true;
    return false;
  }

  /** A volume is needed by the nodes that need its claim. */
  hasVolume(node: string, name: string): boolean {
    const claim = this.volumes.get('', name)?.spec?.claimRef;
    return claim?.name !== undefined && this.has(node, 'claim', claim.namespace ?? '', claim.name);
  }
}

type AttachmentObject = Wire<VolumeAttachment>;

export class NodeAuthorizer implements Authorizer {
  readonly name = 'Node';
  private readonly needs: Needs;
  private readonly attachments: LiveView<AttachmentObject>;
  private readonly rules: RuleIndex;
  private readonly leaseNamespace: string;
  private readonly storage: string;
  private readonly coordination: string;
  private readonly resource: string;
  private readonly pods: LiveView<PodObject>;
  /** Undefined where there are none. */
  private readonly slices: LiveView<Wire<ResourceSlice>> | undefined;
  private readonly mayReadAccounts: boolean;
  /** Whether nodes, pods and slices are told apart by node. */
  private readonly isNarrow: boolean;

  constructor(live: LiveSource, identity: Identity, choice: ReleaseChoice) {
    this.needs = new Needs(live, identity);
    this.attachments = live<AttachmentObject>('storage', 'volumeattachments');
    this.leaseNamespace = identity.namespaces.nodeLease;
    this.storage = groupName(identity, 'storage');
    this.coordination = groupName(identity, 'coordination');
    this.resource = groupName(identity, 'resource');
    this.pods = live<PodObject>('', 'pods');
    this.slices = hasSlices(choice) ? live('resource', 'resourceslices') : undefined;
    this.mayReadAccounts = isAtLeast(choice.release, '1.34');
    this.isNarrow = choice.feature('AuthorizeNodeWithSelectors');
    const cell = { rules: nodeRules(choice).map((line) => rule(identity, line)), missing: '', usedBy: new Map() };
    const binding = { key: '', name: '', namespace: '', text: '', missing: '', cell };
    this.rules = new RuleIndex([{ binding, subject: { kind: 'Group', name: '' } }]);
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeOf(attributes.user);
    if (node === undefined) return noOpinion;
    if (node === '') return no(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const special = attributes.resourceRequest ? this.special(node, attributes) : undefined;
    if (special !== undefined) return special;
    return this.rules.find(attributes) === undefined ? noOpinion : allowed;
  }

  async rulesFor(user: User): Promise<RuleSet> {
    if (nodeOf(user) === undefined) return noRules;
    return { ...noRules, incomplete: true, error: 'node authorizer does not support user rule resolution' };
  }

  /** Undefined for requests that are decided alike for every node. */
  private special(node: string, attributes: Attributes): Decision | undefined {
    const { group, resource } = attributes;
    if (group === '') {
      if (resource === 'secrets') return this.read(node, 'secret', attributes);
      if (resource === 'configmaps') return this.read(node, 'configmap', attributes);
      if (resource === 'persistentvolumeclaims') {
        const related = () => this.needs.has(node, 'claim', attributes.namespace, attributes.name);
        return attributes.subresource === 'status' ? writeStatus(node, attributes, related) : getOne(node, attributes, related);
      }
      if (resource === 'persistentvolumes') return getOne(node, attributes, () => this.needs.hasVolume(node, attributes.name));
      if (resource === 'serviceaccounts') return this.account(node, attributes);
      if (resource === 'nodes' && this.isNarrow) return ownNode(node, attributes);
      if (resource === 'pods' && this.isNarrow) return podOfNode(node, attributes, () => this.runs(node, attributes));
    }
    if (group === this.resource) {
      if (resource === 'resourceclaims')
        return getOne(node, attributes, () => this.needs.has(node, 'device-claim', attributes.namespace, attributes.name));
      if (resource === 'resourceslices' && this.slices !== undefined) {
        const { slices } = this;
        return sliceOfNode(node, attributes, this.isNarrow, () => slices.get('', attributes.name)?.spec?.nodeName === node);
      }
    }
    if (group === this.storage) {
      if (resource === 'volumeattachments') {
        return getOne(node, attributes, () => this.attachments.get('', attributes.name)?.spec?.nodeName === node);
      }
      if (resource === 'csinodes') return ownStorageNode(node, attributes);
    }
    if (group === this.coordination && resource === 'leases') return this.ownLease(node, attributes);
    return undefined;
  }

  private read(node: string, kind: ReferencedKind, attributes: Attributes): Decision {
    if (attributes.verb !== 'get' && attributes.verb !== 'list' && attributes.verb !== 'watch')
      return no('can only read resources of this type');
    if (attributes.subresource !== '') return no('cannot read subresource');
    if (attributes.namespace === '') return no('can only read namespaced object of this type');
    return related(node, attributes, () => this.needs.has(node, kind, attributes.namespace, attributes.name));
  }

  private runs(node: string, { namespace, name }: Attributes): boolean {
    return this.pods.get(namespace, name)?.spec?.nodeName === node;
  }

  private account(node: string, attributes: Attributes): Decision {
    const isToken = attributes.verb === 'create' && attributes.subresource === 'token';
    const isRead = this.mayReadAccounts && attributes.verb === 'get' && attributes.subresource === '';
    if (!isToken && !isRead) return no('can only create tokens for individual service accounts');
    return related(node, attributes, () => this.needs.has(node, 'account', attributes.namespace, attributes.name));
  }

  private ownLease(node: string, attributes: Attributes): Decision {
    if (!ownVerbs.has(attributes.verb)) return no('can only get, create, update, patch, or delete a node lease');
    if (attributes.namespace !== this.leaseNamespace) return no(`can only access leases in the "${this.leaseNamespace}" system namespace`);
    // The name of an object that is created is not known yet; admission checks it.
    if (attributes.verb !== 'create' && attributes.name !== node)
      return no('can only access node lease with the same name as the requesting node');
    return allowed;
  }
}

/** Whether devices are told by objects of their own, whose nodes are known. */
export const hasSlices = ({ release, feature }: ReleaseChoice): boolean =>
  isAtLeast(release, '1.34') && feature('DynamicResourceAllocation');
