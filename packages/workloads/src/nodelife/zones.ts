/**
 * How fast nodes that are not ready get the taint that evicts their pods. One node of a zone in ten seconds; where most nodes of a
 * zone are gone, one in a hundred seconds, or none if the zone is small; none while every zone is gone altogether, since then this
 * side of the network is more likely at fault than all nodes.
 */
const PERIOD_MS = 10_000;
const SLOW_PERIOD_MS = 100_000;
/** Share of the nodes of a zone, and their number, from which on it is disrupted. */
const DISRUPTED_SHARE = 0.55;
const DISRUPTED_NODES = 3;
/** Zones with at most so many nodes are small. */
const SMALL_ZONE = 50;
/** When to ask again while nothing is evicted. */
const ASK_AGAIN_MS = 5000;

interface Zone {
  nodes: number;
  unready: number;
  /** When the next node may get the taint. */
  nextAt: number;
}
type Disruption = 'none' | 'partial' | 'full';

export class Zones {
  private readonly zones = new Map<string, Zone>();
  private readonly nodes = new Map<string, { readonly zone: string; readonly ready: boolean }>();

  set(node: string, zone: string, ready: boolean): void {
    this.delete(node);
    this.nodes.set(node, { zone, ready });
    const zoneState = this.zones.get(zone) ?? { nodes: 0, unready: 0, nextAt: 0 };
    zoneState.nodes++;
    if (!ready) zoneState.unready++;
    this.zones.set(zone, zoneState);
  }
  delete(node: string): void {
    const nodeState = this.nodes.get(node);
    const zone = nodeState === undefined ? undefined : this.zones.get(nodeState.zone);
    if (nodeState === undefined || zone === undefined) return;
    this.nodes.delete(node);
    zone.nodes--;
    if (!nodeState.ready) zone.unready--;
    // A zone whose only node changes keeps its pace.
    if (zone.nodes === 0 && zone.nextAt === 0) this.zones.delete(nodeState.zone);
  }
  /** 0: the node may get the taint now. Otherwise the milliseconds after which to ask again. */
  take(node: string, now: number): number {
    const zone = this.zones.get(this.nodes.get(node)?.zone ?? '');
    if (zone === undefined) return ASK_AGAIN_MS;
    const period = this.periodOf(zone);
    if (period === undefined) return ASK_AGAIN_MS;
    if (now < zone.nextAt) return zone.nextAt - now;
    zone.nextAt = now + period;
    return 0;
  }
  private periodOf(zone: Zone): number | undefined {
    const state = disruptionOf(zone);
    if (state === 'none') return PERIOD_MS;
    if (state === 'partial') return zone.nodes > SMALL_ZONE ? SLOW_PERIOD_MS : undefined;
    for (const other of this.zones.values()) if (other.nodes > 0 && disruptionOf(other) !== 'full') return PERIOD_MS;
    return undefined;
  }
}

function disruptionOf({ nodes, unready }: Zone): Disruption {
  if (nodes > 0 && unready === nodes) return 'full';
  return unready >= DISRUPTED_NODES && unready / nodes >= DISRUPTED_SHARE ? 'partial' : 'none';
}
