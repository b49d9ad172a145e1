/** Nodes. */

import { ageAt } from '@plat-dev/meta/age';
import { domainName } from '@plat-dev/meta/identity';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { proxy, status } from '../subresources.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { addressOf } from './node-addresses.ts';
import { validateNode, validateNodeUpdate } from './node-rules.ts';
import { Node } from './schema/node.ts';

/** `podCIDR` and `podCIDRs` agree; the single one takes precedence. */
function defaults(node: Node): void {
  const { spec, status } = node;
  if (spec.podCIDR !== undefined && spec.podCIDR !== '') {
    if (spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  } else if (spec.podCIDRs?.[0] !== undefined) spec.podCIDR = spec.podCIDRs[0];
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity };
}

const conditionText = (node: Node): string => {
  const ready = node.status.conditions?.findLast((condition) => condition.type === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec.unschedulable ? `${text},SchedulingDisabled` : text;
};

/** Roles are labels: `node-role.…/worker`, or the value of `…/role`. */
function rolesText(node: Node, env: KindEnv): string {
  const prefix = domainName(env.identity, '', 'node-role');
  const single = domainName(env.identity, 'role');
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(node.metadata.labels ?? {})) {
    if (label.startsWith(prefix) && label.length > prefix.length) roles.add(label.slice(prefix.length));
    else if (label === single && value !== '') roles.add(value);
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
}

export const NodeKind = kind<Node>({
  group: '',
  kind: 'Node',
  plural: 'nodes',
  short: ['no'],
  scope: 'Cluster',
  versions: { v1: { schema: Node, defaults } },
  hub: 'v1',
  strategy: {
    prepareForUpdate: (node, old) => {
      node.status = old.status;
    },
    validate: validateNode,
    *validateUpdate(node, old, errors, env) {
      metadataAgain(node, { namespaced: false }, errors, env);
      yield;
      validateNode(node, errors, env);
      yield;
      metadataUpdateAgain(node, old, errors, env);
      validateNodeUpdate(node, old, errors, env);
    },
    warnings: (node) =>
      node.spec.configSource === undefined ? [] : ['spec.configSource: deprecated in v1.22, support removal is planned in v1.23'],
    resetFields: [['status']],
  },
  subresources: {
    proxy: proxy('NodeProxyOptions'),
    status: status<Node>({
      prepareForUpdate: (node, old) => {
        node.spec = old.spec;
      },
      validateUpdate: (node, old, errors, env) => {
        metadataUpdateAgain(node, old, errors, env);
        validateNodeUpdate(node, old, errors, env);
      },
      resetFields: [['spec']],
    }),
  },
  fields: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) },
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether the node is ready, and whether pods may be placed on it.' },
    { name: 'Roles', type: 'string', description: 'The roles that the labels of the node give it.' },
    ageColumn,
    { name: 'Version', type: 'string', description: 'The version of the agent on the node.' },
    { name: 'Internal-IP', type: 'string', priority: 1, description: 'The address of the node inside the cluster.' },
    { name: 'External-IP', type: 'string', priority: 1, description: 'The address of the node seen from outside.' },
    { name: 'OS-Image', type: 'string', priority: 1, description: 'The operating system that the node reports.' },
    { name: 'Kernel-Version', type: 'string', priority: 1, description: 'The kernel that the node reports.' },
    { name: 'Container-Runtime', type: 'string', priority: 1, description: 'The container runtime and version that the node reports.' },
  ],
  cells: (node, env) => {
    const { nodeInfo } = node.status;
    return [
      node.metadata.name ?? '',
      conditionText(node),
      rolesText(node, env),
      ageAt(env.now(), node.metadata.creationTimestamp),
      nodeInfo.kubeletVersion,
      addressOf(node, 'InternalIP') ?? '<none>',
      addressOf(node, 'ExternalIP') ?? '<none>',
      nodeInfo.osImage || '<unknown>',
      nodeInfo.kernelVersion || '<unknown>',
      nodeInfo.containerRuntimeVersion || '<unknown>',
    ];
  },
});
