/** Why a pod has no node: what each node refuses, as far as the caller may read what decides. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Slices } from '@plat-dev/lib/slices';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, explained, isEnough, sentence } from './cause.ts';
import { claimCauses } from './claims.ts';
import { claimNamesOf } from './pod-references.ts';
import type { Reason } from './reasons.ts';

/** Objects by which a scheduler decides. */
interface PlacementObjects {
  readonly nodes: readonly ApiObject[];
  readonly pods: readonly ApiObject[];
  readonly namespaces: readonly ApiObject[];
  readonly claims: readonly ApiObject[];
  readonly volumes: readonly ApiObject[];
  readonly classes: readonly ApiObject[];
  readonly drivers: readonly ApiObject[];
}
/** The scheduler of this server. */
export interface Scheduling {
  /** Whether it runs. */
  readonly isOn: boolean;
  /** For each node why a pod cannot be there; no reasons: it can. */
  refusals(
    pod: ApiObject,
    objects: PlacementObjects,
    slices: Slices,
  ): Promise<readonly { readonly node: string; readonly reasons: readonly string[] }[]>;
}

/** One reason, and the nodes that have it; without names where the caller may not list nodes. */
export interface RefusedNodes {
  readonly reason: string;
  readonly count: number;
  readonly nodes: readonly string[];
}
export interface UnscheduledAnswer {
  readonly causes: readonly Cause[];
  readonly refusals: readonly RefusedNodes[];
}

/** The name that pods have unless they name another. */
const DEFAULT_SCHEDULER = 'default-scheduler';

export async function unscheduledCauses(view: CallersView, target: Target, scheduling: Scheduling): Promise<UnscheduledAnswer> {
  const { spec, status } = target.object as Wire<Pod>;
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const only = (reason: Reason, message: string, command?: string): UnscheduledAnswer => ({
    causes: [causeOf(target, reason, message, command)],
    refusals: [],
  });
  const gates = (spec as { schedulingGates?: { name: string }[] } | undefined)?.schedulingGates ?? [];
  if (gates.length > 0 || condition?.reason === 'SchedulingGated')
    return only(
      'SchedulingGated',
      sentence(`It waits for its scheduling gates to be removed${gates.length > 0 ? `: ${gates.map(({ name }) => name).join(', ')}` : ''}`),
    );
  const ofClaims = await podClaimCauses(view, target);
  if (ofClaims.length > 0) return { causes: ofClaims, refusals: [] };
  const scheduler = spec?.schedulerName ?? DEFAULT_SCHEDULER;
  if (scheduler !== DEFAULT_SCHEDULER && condition === undefined)
    return only(
      'OtherScheduler',
      `It waits for the scheduler ${scheduler}, which is not part of this server and has not reported anything.`,
    );
  const nominated = status?.nominatedNodeName ?? '';
  if (nominated !== '')
    return only(
      'Preempting',
      `It waits for pods of lower priority to leave the node ${nominated}.`,
      `get pods -A --field-selector spec.nodeName=${nominated}`,
    );
  if (!scheduling.isOn && condition === undefined)
    return only(
      'NoScheduler',
      'No scheduler has looked at it: this server runs none, and no other has reported. Start it with --workloads=scheduler.',
      'get leases -A',
    );
  return refusedCauses(view, target, scheduling);
}

async function podClaimCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const namespace = target.object.metadata.namespace ?? '';
  const claims = view.builtin('', 'persistentvolumeclaims');
  const causes: Cause[] = [];
  for (const name of new Set(claimNamesOf(target.object as Wire<Pod>))) {
    if (isEnough(causes)) break;
    const claim = await view.get(claims, namespace, name);
    if (claim.object !== undefined)
      causes.push(
        ...(await claimCauses(view, { resource: claims, object: claim.object }, true)).map((cause) => ({
          ...cause,
          path: [explained(target)],
        })),
      );
    else if (claim.isKnown)
      causes.push(causeOf(target, 'ClaimMissing', `The claim ${name} does not exist.`, `get persistentvolumeclaims -n ${namespace}`));
  }
  return causes;
}

async function refusedCauses(view: CallersView, target: Target, scheduling: Scheduling): Promise<UnscheduledAnswer> {
  const { status } = target.object as Wire<Pod>;
  const condition = status?.conditions?.find(({ type, status: state }) => type === 'PodScheduled' && state !== 'True');
  const objects = scheduling.isOn ? await placementObjects(view, target) : undefined;
  if (objects?.nodes.length === 0) return { causes: [noNodes(target)], refusals: [] };
  if (objects === undefined) {
    const refusals = refusalsOfMessage(condition?.message ?? '');
    const causes = refusals.map((refused) => refusalCause(target, refused));
    if (causes.length === 0)
      causes.push(/^no nodes available/.test(condition?.message ?? '') ? noNodes(target) : undecided(target, condition?.message));
    return { causes, refusals };
  }
  const byNode = await scheduling.refusals(target.object, objects, view.slices);
  const fitting = byNode.find(({ reasons }) => reasons.length === 0);
  if (fitting !== undefined) return { causes: [fits(target, fitting.node)], refusals: [] };
  const nodesByReason = new Map<string, string[]>();
  for (const { node, reasons } of byNode)
    for (const reason of reasons) {
      const nodes = nodesByReason.get(reason);
      if (nodes === undefined) nodesByReason.set(reason, [node]);
      else nodes.push(node);
    }
  const refusals = [...nodesByReason].map(([reason, nodes]) => ({ reason, count: nodes.length, nodes })).sort(byCount);
  return { causes: refusals.map((refused) => refusalCause(target, refused)), refusals };
}

/** Undefined where the caller may not read all of them: what depends on others must not be told. */
async function placementObjects(view: CallersView, target: Target): Promise<PlacementObjects | undefined> {
  const hasClaims = claimNamesOf(target.object as Wire<Pod>).length > 0;
  const namespace = target.object.metadata.namespace ?? '';
  const lists = {
    nodes: await view.list(view.builtin('', 'nodes')),
    pods: await view.list(view.builtin('', 'pods')),
    namespaces: await view.list(view.builtin('', 'namespaces')),
    claims: hasClaims ? await view.list(view.builtin('', 'persistentvolumeclaims'), namespace) : none,
    volumes: hasClaims ? await view.list(view.builtin('', 'persistentvolumes')) : none,
    classes: hasClaims ? await view.list(view.builtin('storage', 'storageclasses')) : none,
    drivers: hasClaims ? await view.list(view.builtin('storage', 'csinodes')) : none,
  };
  if (Object.values(lists).some(({ isWhole }) => !isWhole)) return undefined;
  const { nodes, pods, namespaces, claims, volumes, classes, drivers } = lists;
  return {
    nodes: nodes.objects,
    pods: pods.objects,
    namespaces: namespaces.objects,
    claims: claims.objects,
    volumes: volumes.objects,
    classes: classes.objects,
    drivers: drivers.objects,
  };
}
const none = { objects: [], isWhole: true } as const;

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`, by reason. */
function refusalsOfMessage(message: string): RefusedNodes[] {
  const [, list = ''] = /^0\/\d+ nodes are available: (.*?)\.?(?: preemption: .*)?$/s.exec(message) ?? [];
  return list
    .split(/, (?=\d+ )/)
    .flatMap((part) => {
      const [, count = '', reason = ''] = /^(\d+) (.+)$/s.exec(part) ?? [];
      return reason === '' ? [] : [{ reason, count: Number(count), nodes: [] }];
    })
    .sort(byCount);
}

const byCount = (a: RefusedNodes, b: RefusedNodes): number => b.count - a.count || (a.reason < b.reason ? -1 : 1);

const words: readonly (readonly [pattern: RegExp, word: Reason])[] = [
  [/^Insufficient |^Too many pods/, 'InsufficientResources'],
  [/untolerated taint/, 'UntoleratedTaint'],
  [/unschedulable/, 'NodeUnschedulable'],
  [/node affinity\/selector/, 'NodeSelector'],
  [/free ports/, 'PortsTaken'],
  [/topology spread/, 'TopologySpread'],
  [/(anti-)?affinity rules/, 'PodAffinity'],
  [/volume|disk|storage/i, 'Volumes'],
];

/** Names of nodes in a message. */
const MOST_NODES = 3;

function refusalCause(target: Target, { reason, count, nodes }: RefusedNodes): Cause {
  const [, word = 'NodesRefuse'] = words.find(([pattern]) => pattern.test(reason)) ?? [];
  const names = nodes.slice(0, MOST_NODES).join(', ');
  const others = count - Math.min(nodes.length, MOST_NODES);
  const where =
    nodes.length === 0
      ? `${count} node${count === 1 ? '' : 's'}`
      : others === 0
        ? names
        : `${names} and ${others} other${others === 1 ? '' : 's'}`;
  const [first] = nodes;
  const command = first === undefined ? commandOn('describe', target) : `describe nodes/${first}`;
  return causeOf(target, word, sentence(`${where}: ${reason.replace(/^node\(s\) /, '')}`), command);
}
const noNodes = (target: Target): Cause => causeOf(target, 'NoNodes', 'There are no nodes.', 'get nodes');
const fits = (target: Target, node: string): Cause =>
  causeOf(target, 'WaitsForScheduler', `It fits on ${node}: the scheduler should bind it soon.`, commandOn('get', target, '--watch'));
const undecided = (target: Target, message = ''): Cause =>
  causeOf(target, 'Unschedulable', message === '' ? 'The scheduler has not decided about it yet.' : sentence(message));
