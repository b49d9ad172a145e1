/**
 * Zones that should use an endpoint (feature TopologyAwareHints), for services whose annotation
 * `service.<domain>/topology-aware-hints` is `auto`. Every zone gets ready endpoints in proportion to the processors of
 * its ready nodes: most endpoints are for their own zone, the surplus of a zone is for zones with too few.
 *
 *   zones a and b have as many processors, endpoints are in a a a b     hints are for a a b b
 *   all nodes are in one zone, or a node or an endpoint has no zone     no hints: requests go to any endpoint
 */
import type { Informer } from '@plat-dev/client/informer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { parseQuantity } from '@plat-dev/lib/quantity';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { type ControllerContext, refs } from '../runtime/controller.ts';
import type { ServiceEndpoint, ServiceObject } from './service.ts';

/** By how much an endpoint may be loaded beyond its share. */
const OVERLOAD = 0.2;

export const asksForHints = (identity: Identity, { metadata }: ServiceObject): boolean =>
  /^[Aa]uto$/.test(metadata.annotations?.[domainName(identity, 'topology-aware-hints', 'service')] ?? '');

/** The parts of a node that hints depend on. */
export interface ZoneNode {
  readonly zone: string;
  readonly millis: number;
}

/** The share of each zone in the processors of all nodes; undefined where too little is known, or there is one zone. */
export function zoneShares(nodes: Iterable<ZoneNode>): ReadonlyMap<string, number> | undefined {
  const millis = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    if (node.zone === '' || node.millis === 0) return undefined;
    millis.set(node.zone, (millis.get(node.zone) ?? 0) + node.millis);
    total += node.millis;
  }
  if (millis.size < 2) return undefined;
  return new Map([...millis].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, amount]) => [zone, amount / total]));
}

/** A ready endpoint: its id, its zone, and the zone of its current hint. */
export interface ZoneEndpoint {
  readonly id: string;
  readonly zone: string;
  readonly hinted: string | undefined;
}

/** The zone hint of each endpoint by id; undefined if some zone would get too few endpoints. Valid hints are kept. */
export function allotZones(
  endpoints: readonly ZoneEndpoint[],
  shares: ReadonlyMap<string, number>,
): ReadonlyMap<string, string> | undefined {
  const count = endpoints.length;
  if (count < shares.size || endpoints.some(({ zone }) => zone === '')) return undefined;
  const minimum = new Map([...shares].map(([zone, share]) => [zone, Math.ceil((share * count) / (1 + OVERLOAD))]));
  let remaining = count;
  for (const least of minimum.values()) remaining -= least;
  if (remaining < 0) return undefined;
  const present = new Map(endpoints.map(({ id, hinted = '' }) => [id, hinted]));
  const counts = countBy(present.values());
  const serves = [...counts].every(([zone]) => shares.has(zone)) && [...minimum].every(([zone, least]) => (counts.get(zone) ?? 0) >= least);
  if (serves) return present;
  const allotted = new Map(minimum);
  for (; remaining > 0; remaining--) {
    const [zone] = [...allotted].reduce((most, one) => (lack(one) > lack(most) ? one : most));
    allotted.set(zone, (allotted.get(zone) as number) + 1);
  }
  return zoneOfEach(endpoints, allotted);

  function lack([zone, number]: [string, number]): number {
    return (shares.get(zone) as number) * count - number;
  }
}

/** Endpoints stay in their zone as long as it has too few; the others go where some are missing. */
function zoneOfEach(endpoints: readonly ZoneEndpoint[], allotted: Map<string, number>): ReadonlyMap<string, string> {
  const hints = new Map<string, string>();
  const take = (id: string, zone: string): void => {
    allotted.set(zone, (allotted.get(zone) as number) - 1);
    hints.set(id, zone);
  };
  for (const { id, zone } of endpoints) if ((allotted.get(zone) ?? 0) > 0) take(id, zone);
  const missing = [...allotted].flatMap(([zone, number]) => Array.from({ length: number }, () => zone));
  for (const { id } of endpoints) if (!hints.has(id)) take(id, missing.shift() as string);
  return hints;
}

function countBy(zones: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const zone of zones) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  return counts;
}

export interface ZoneHints {
  /** The zone for each endpoint by the uid of its pod; undefined for a service that gets no hints. `hinted`: what they are for now. */
  hintsFor(
    service: ServiceObject,
    endpoints: readonly ServiceEndpoint[],
    zoneOf: (endpoint: ServiceEndpoint) => string | undefined,
    hinted: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, string> | undefined;
}

type NodeObject = ApiObject & {
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

/** Nodes are watched from the first service with hints on. `changed` is called when the share of a zone has changed. */
export function zoneHints({ informers, identity }: Pick<ControllerContext, 'informers' | 'identity'>, changed: () => void): ZoneHints {
  const zoneLabel = domainName(identity, 'zone', 'topology');
  const excluded = ['control-plane', 'master'].map((role) => domainName(identity, role, 'node-role'));
  let nodes: Informer<NodeObject> | undefined;
  let shares: ReadonlyMap<string, number> | undefined;
  const isCounted = ({ metadata, status }: NodeObject): boolean =>
    !excluded.some((label) => metadata.labels?.[label] !== undefined) &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  const count = (all: Informer<NodeObject>): void => {
    if (!all.isSynced) return;
    const previousShares = shares;
    shares = zoneShares(
      [...all.list()].filter(isCounted).map(({ metadata, status }) => ({
        zone: metadata.labels?.[zoneLabel] ?? '',
        millis: Number(parseQuantity(status?.allocatable?.cpu ?? '0').millis()),
      })),
    );
    if (!equal([...(previousShares ?? [])], [...(shares ?? [])])) changed();
  };
  const follow = (): void => {
    if (nodes !== undefined) return;
    const all = informers.of<NodeObject>(refs.nodes);
    nodes = all;
    all.onChange(() => count(all));
    all.synced.then(
      () => count(all),
      () => {},
    );
  };
  return {
    hintsFor(service, endpoints, zoneOf, hinted) {
      if (!asksForHints(identity, service)) return undefined;
      follow();
      if (shares === undefined) return undefined;
      const ready = endpoints.filter((one) => one.ready);
      return allotZones(
        ready.map((one) => ({ id: one.targetRef.uid, zone: zoneOf(one) ?? '', hinted: hinted.get(one.targetRef.uid) })),
        shares,
      );
    },
  };
}
