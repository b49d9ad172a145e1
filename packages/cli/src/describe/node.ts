/** Nodes, with the pods on them and what these request. */

import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Taint } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { own } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import { ApiError } from '@plat-dev/meta/errors';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { parseQuantity, type Quantity } from '@plat-dev/meta/quantity';
import { type Amounts, addAll, amountOf, podAmounts } from './amounts.ts';
import { builtIns, type Cluster } from './cluster.ts';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import type { Page } from './page.ts';
import { type Described, longTime, type ReadForm } from './values.ts';

export const describeNode: Describer<Node> = {
  async write(page, node, cluster) {
    const { metadata, spec = {}, status = {} } = node;
    const pods = await podsOn(cluster, metadata.name ?? '');
    page.field('Name', metadata.name).field('Roles', rolesOf(metadata.labels, cluster.identity).join(',') || '<none>');
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp));
    page.list('Taints', taintLines(spec.taints)).field('Unschedulable', spec.unschedulable ?? false);
    await writeLease(page, cluster, metadata.name ?? '');
    writeStatus(page, status);
    page.fieldIfSet('PodCIDR', spec.podCIDR).fieldIfSet('PodCIDRs', spec.podCIDRs?.join(',')).fieldIfSet('ProviderID', spec.providerID);
    if (pods === undefined) page.field('Pods', 'not authorized');
    else writePods(page, pods, status.allocatable ?? status.capacity ?? {}, cluster.now);
  },
  // Controllers write events with the UID of the node, its agent with its name in that place.
  events: (_, about) => [about, { ...about, uid: about.name }],
};

/** Undefined if they may not be read. */
async function podsOn(cluster: Cluster, node: string): Promise<Described<Pod>[] | undefined> {
  const fieldSelector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
  try {
    return await cluster.list<Pod>(builtIns.pods, undefined, { fieldSelector });
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return undefined;
    throw error;
  }
}

/** Roles are labels: `node-role.…/worker`, or the value of `…/role`. */
function rolesOf(labels: Readonly<Record<string, string>> = {}, identity: Identity): string[] {
  const prefix = domainName(identity, '', 'node-role');
  const single = domainName(identity, 'role');
  const roles = Object.entries(labels).map(([label, value]) =>
    label.startsWith(prefix) ? label.slice(prefix.length) : label === single ? value : '',
  );
  return [...new Set(roles)].filter((role) => role !== '').sort();
}

/** `key=value:Effect`, by effect and key. */
const taintLines = (taints: readonly ReadForm<Taint>[] = []): string[] =>
  [...taints]
    .sort((a, b) => inOrder(`${a.effect},${a.key}`, `${b.effect},${b.key}`))
    .map(
      ({ key = '', value = '', effect = '' }) =>
        `${key}${value === '' ? '' : `=${value}`}${effect === '' && value === '' ? '' : `:${effect}`}`,
    );

async function writeLease(page: Page, cluster: Cluster, name: string): Promise<void> {
  try {
    const { spec = {} } = await cluster.get<Lease>(builtIns.leases, cluster.identity.namespaces.nodeLease, name);
    const time = (text: string | undefined): string => (text === undefined ? '<unset>' : longTime(text));
    const below = page.heading('Lease').at(1);
    below.field('HolderIdentity', spec.holderIdentity ?? '<unset>');
    below.field('AcquireTime', time(spec.acquireTime)).field('RenewTime', time(spec.renewTime));
  } catch (error) {
    page.field('Lease', `Failed to get lease: ${(error as Error).message}`);
  }
}

function writeStatus(
  page: Page,
  { conditions = [], addresses = [], capacity, allocatable, nodeInfo = {} }: ReadForm<Node['status']>,
): void {
  const below = page.at(1);
  if (conditions.length > 0)
    page
      .heading('Conditions')
      .at(1)
      .table(
        ['Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message'],
        conditions.map((c) => [
          `${c.type} `,
          `${c.status} `,
          `${longTime(c.lastHeartbeatTime)} `,
          `${longTime(c.lastTransitionTime)} `,
          `${c.reason ?? ''} `,
          c.message,
        ]),
      );
  page.heading('Addresses');
  for (const { type = '', address } of addresses) below.field(type, address);
  writeResources(page, 'Capacity', capacity);
  writeResources(page, 'Allocatable', allocatable);
  page.heading('System Info');
  below.field('Machine ID', nodeInfo.machineID).field('System UUID', nodeInfo.systemUUID).field('Boot ID', nodeInfo.bootID);
  below.field('Kernel Version', nodeInfo.kernelVersion).field('OS Image', nodeInfo.osImage);
  below.field('Operating System', nodeInfo.operatingSystem).field('Architecture', nodeInfo.architecture);
  below.field('Container Runtime Version', nodeInfo.containerRuntimeVersion);
  below.field('Kubelet Version', nodeInfo.kubeletVersion).field('Kube-Proxy Version', nodeInfo.kubeProxyVersion);
}
function writeResources(page: Page, label: string, resources: Readonly<Record<string, string>> = {}): void {
  const names = Object.keys(resources).sort();
  if (names.length > 0) page.heading(label);
  for (const name of names) page.at(1).field(name, own(resources, name));
}

// ---- pods --------------------------------------------------------------------------------------------------------

function writePods(page: Page, pods: readonly Described<Pod>[], allocatable: Readonly<Record<string, string>>, now: number): void {
  const below = page.at(1);
  const share = (amount: Quantity, name: string): string => `${amount} (${percent(amount, own(allocatable, name))}%)`;
  const requests: Amounts = new Map();
  const limits: Amounts = new Map();
  page.field('Non-terminated Pods', `(${pods.length} in total)`);
  below.table(
    ['Namespace', 'Name', '', 'CPU Requests', 'CPU Limits', 'Memory Requests', 'Memory Limits', 'Age'],
    pods.map((pod) => {
      const own = podAmounts(pod);
      addAll(requests, own.requests);
      addAll(limits, own.limits);
      const shares = ['cpu', 'memory'].flatMap((name) => [
        share(amountOf(own.requests, name), name),
        share(amountOf(own.limits, name), name),
      ]);
      return [pod.metadata.namespace, pod.metadata.name, '', ...shares, ageAt(now, pod.metadata.creationTimestamp)];
    }),
  );
  page.heading('Allocated resources');
  below.line('(Total limits may be over 100 percent, i.e., overcommitted.)');
  const shared = ['cpu', 'memory', 'ephemeral-storage', ...Object.keys(allocatable).filter(isHugePages).sort()];
  const others = Object.keys(allocatable)
    .filter((name) => !shared.includes(name) && name !== 'pods')
    .sort();
  below.table(
    ['Resource', 'Requests', 'Limits'],
    [
      ...shared.map((name) => [name, share(amountOf(requests, name), name), share(amountOf(limits, name), name)]),
      ...others.map((name) => [name, String(amountOf(requests, name)), String(amountOf(limits, name))]),
    ],
  );
}
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Of what the node has to give, rounded down; 0 if it has none. */
function percent(amount: Quantity, total = '0'): number {
  const all = Number(parseQuantity(total).millis());
  return all === 0 ? 0 : Math.trunc((Number(amount.millis()) / all) * 100);
}
