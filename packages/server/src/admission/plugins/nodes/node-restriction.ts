/**
 * NodeRestriction: a node agent (`system:node:NAME`, group `system:nodes`) may change its own node, the pods that run
 * on it, its own lease, and nothing that would attract other workloads.
 */

import type { TokenRequest } from '@plat-dev/kinds/authentication/schema/v1';
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { notFound } from '@plat-dev/meta/errors';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/meta/user';
import { wellKnown } from '../../../auth/types.ts';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { configMapNames, secretNames } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';
import { forbiddenLabels } from './node-labels.ts';

const PREFIX = wellKnown.nodePrefix;
const GROUP = wellKnown.nodes;
const nodeOf = (user: User): string | undefined =>
  user.groups.includes(GROUP) && user.name.startsWith(PREFIX) ? user.name.slice(PREFIX.length) : undefined;

interface Views {
  readonly identity: Identity;
  readonly nodes: LiveView<Node>;
  readonly pods: LiveView<Pod>;
}
type Rule = (request: AdmissionRequest, node: string, views: Views) => void;

export const nodeRestriction: MakePlugin = ({ identity, live }) => {
  const views: Views = { identity, nodes: live<Node>('', 'nodes'), pods: live<Pod>('', 'pods') };
  return {
    name: 'NodeRestriction',
    handles: (operation) => operation !== 'CONNECT',
    concerns: kinds(...Object.keys(rules)),
    admit(request) {
      const node = nodeOf(request.user);
      if (node === undefined) return;
      if (node === '') throw refusal(request, `could not determine node from user ${JSON.stringify(request.user.name)}`);
      const { group, plural } = request.served.kind;
      const rule = own(rules, group === '' ? plural : `${group}/${plural}`) as Rule;
      // Requests for pods have waited for theirs.
      const bound = plural === 'serviceaccounts' ? boundPod(request) : undefined;
      const pendingLook = bound === undefined ? undefined : views.pods.look(request.namespace, bound);
      if (pendingLook !== undefined) return pendingLook.then(() => rule(request, node, views));
      rule(request, node, views);
    },
  };
};

const rules: Readonly<Record<string, Rule>> = {
  pods: (request, node, views) => {
    if (request.subresource === '') return podRule(request, node, views);
    if (request.subresource === 'status') return podStatusRule(request, node);
    if (request.subresource === 'eviction') return evictionRule(request, node, views);
    throw refusal(request, `unexpected pod subresource ${JSON.stringify(request.subresource)}, only 'status' and 'eviction' are allowed`);
  },
  nodes: nodeRule,
  persistentvolumeclaims: (request, node) => {
    if (request.subresource !== 'status') throw refusal(request, 'may only update PVC status');
    claimStatusRule(request, node);
  },
  serviceaccounts: tokenRule,
  'coordination/leases': (request, node, { identity }) => {
    const { nodeLease } = identity.namespaces;
    if (request.namespace !== nodeLease)
      throw refusal(request, `can only access leases in the ${JSON.stringify(nodeLease)} system namespace`);
    if (request.name !== node) throw refusal(request, 'can only access node lease with the same name as the requesting node');
  },
  'storage/csinodes': (request, node) => {
    if (request.name !== node) throw refusal(request, 'can only access CSINode with the same name as the requesting node');
  },
};

// ---- pods --------------------------------------------------------------------------------------------------------

function podRule(request: AdmissionRequest, node: string, views: Views): void {
  const { operation } = request;
  if (operation === 'CREATE') {
    mirrorRule(request, request.object as unknown as Pod, node, views);
    return;
  }
  if (operation !== 'DELETE')
    throw refusal(
      request,
      `unexpected operation ${JSON.stringify(operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`,
    );
  if ((request.oldObject as unknown as Pod).spec.nodeName !== node)
    throw refusal(request, `node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`);
}

/** A node may only create mirror pods, which must not refer to other objects. */
function mirrorRule(request: AdmissionRequest, { metadata, spec }: Pod, node: string, { identity, nodes }: Views): void {
  const self = JSON.stringify(node);
  const mirror = domainName(identity, 'config.mirror');
  const refuse = (why: string): never => {
    throw refusal(request, why);
  };
  if (metadata.annotations?.[mirror] === undefined)
    refuse(`pod does not have ${JSON.stringify(mirror)} annotation, node ${self} can only create mirror pods`);
  if (spec.nodeName !== node) refuse(`node ${self} can only create pods with spec.nodeName set to itself`);
  const owners = metadata.ownerReferences ?? [];
  if (owners.length > 1) refuse(`node ${self} can only create pods with a single owner reference set to itself`);
  const [owner] = owners;
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refusal(request, `node ${self} can only create pods with an owner reference set to itself`);
  if (owner.controller !== true) refuse(`node ${self} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) refuse(`node ${self} must not set blockOwnerDeletion on an owner reference`);
  const nodeObject = nodes.get('', node);
  if (nodeObject === undefined) throw notFound({ group: '', resource: 'nodes' }, node);
  if (owner.uid !== nodeObject.metadata.uid) refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${nodeObject.metadata.uid}`);
  if ((spec.serviceAccountName ?? '') !== '') refuse(`node ${self} can not create pods that reference a service account`);
  if (secretNames(spec).size > 0) refuse(`node ${self} can not create pods that reference secrets`);
  if (configMapNames(spec).size > 0) refuse(`node ${self} can not create pods that reference configmaps`);
  for (const volume of spec.volumes ?? []) {
    if (volume.persistentVolumeClaim !== undefined) refuse(`node ${self} can not create pods that reference persistentvolumeclaims`);
    if (volume.projected?.sources?.some((source) => source.serviceAccountToken !== undefined))
      refuse(`node ${self} can not create pods that use service account tokens`);
  }
}

function podStatusRule(request: AdmissionRequest, node: string): void {
  const self = JSON.stringify(node);
  if (request.operation !== 'UPDATE') throw refusal(request, `unexpected operation ${JSON.stringify(request.operation)}`);
  const old = request.oldObject as unknown as Pod;
  if (old.spec.nodeName !== node)
    throw refusal(request, `node ${self} can only update pod status for pods with spec.nodeName set to itself`);
  if (!equal(old.metadata.labels ?? {}, request.object?.metadata.labels ?? {}))
    throw refusal(request, `node ${self} cannot update labels through pod status`);
}

function evictionRule(request: AdmissionRequest, node: string, { pods }: Views): void {
  if (request.operation !== 'CREATE') throw refusal(request, `unexpected operation ${request.operation}`);
  const name = request.name === '' ? (request.object?.metadata?.name ?? '') : request.name;
  if (name === '') throw refusal(request, 'could not determine pod from request data');
  const pod = pods.get(request.namespace, name);
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, name);
  if (pod.spec.nodeName !== node) throw refusal(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

// ---- the others --------------------------------------------------------------------------------------------------

function nodeRule(request: AdmissionRequest, node: string, { identity }: Views): void {
  const self = JSON.stringify(node);
  if (request.name !== node) throw refusal(request, `node ${self} is not allowed to modify node ${JSON.stringify(request.name)}`);
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return;
  const newNode = request.object as unknown as Node;
  const old = request.oldObject as unknown as Node | undefined;
  const labels = forbiddenLabels(identity, newNode.metadata.labels ?? {}, old?.metadata.labels ?? {});
  if (old === undefined) {
    if (newNode.spec.configSource !== undefined)
      throw refusal(request, `node ${self} is not allowed to create pods with a non-nil configSource`);
    if (labels.length > 0) throw refusal(request, `node ${self} is not allowed to set the following labels: ${labels.join(', ')}`);
    return;
  }
  if (newNode.spec.configSource !== undefined && !equal(newNode.spec.configSource, old.spec.configSource))
    throw refusal(request, `node ${self} is not allowed to update configSource to a new non-nil configSource`);
  if (!equal(newNode.spec.taints ?? [], old.spec.taints ?? [])) throw refusal(request, `node ${self} is not allowed to modify taints`);
  if (labels.length > 0) throw refusal(request, `is not allowed to modify labels: ${labels.join(', ')}`);
}

/** A node may report the new size of a volume, and nothing else. */
function claimStatusRule(request: AdmissionRequest, node: string): void {
  if (request.operation !== 'UPDATE') throw refusal(request, `unexpected operation ${JSON.stringify(request.operation)}`);
  const comparable = (object: ApiObject | undefined): object => {
    const { metadata, status, ...rest } = object as unknown as PersistentVolumeClaim;
    const { resourceVersion: _version, managedFields: _managers, ...meta } = metadata;
    const { capacity: _capacity, conditions: _conditions, resizeStatus: _resize, allocatedResources: _allocated, ...others } = status;
    return { ...rest, metadata: meta, status: others };
  };
  if (equal(comparable(request.object), comparable(request.oldObject))) return;
  throw refusal(request, `node ${JSON.stringify(node)} is not allowed to update fields other than status.capacity and status.conditions`);
}

/** Tokens are for pods that run on the node. */
/** The name of the pod that a requested token is bound to. */
const boundPod = ({ object }: AdmissionRequest): string | undefined =>
  (object as unknown as Partial<TokenRequest> | undefined)?.spec?.boundObjectRef?.name;

function tokenRule(request: AdmissionRequest, node: string, { pods }: Views): void {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const bound = (request.object as unknown as TokenRequest).spec.boundObjectRef;
  if (bound === undefined || bound.apiVersion !== 'v1' || bound.kind !== 'Pod' || (bound.name ?? '') === '')
    throw refusal(request, 'node requested token not bound to a pod');
  if ((bound.uid ?? '') === '') throw refusal(request, 'node requested token with a pod binding without a uid');
  const pod = pods.get(request.namespace, bound.name as string);
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, bound.name as string);
  if (bound.uid !== pod.metadata.uid)
    throw refusal(
      request,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec.nodeName !== node) throw refusal(request, 'node requested token bound to a pod scheduled on a different node');
}
