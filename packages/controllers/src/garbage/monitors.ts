/** Watches the metadata of every kind that can be collected, and feeds the graph. */

import type { Client } from '@plat-dev/client/dynamic';
import { Following } from '@plat-dev/client/watch';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import type { Discovered, ServedResource } from '../runtime/resources.ts';
import { type Graph, kindKey, sameResource } from './graph.ts';

interface Monitor {
  readonly resource: ServedResource;
  readonly following: Following<ApiObject>;
  readonly synced: Promise<void>;
}

export interface MonitorsOptions {
  readonly client: Client;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly spread: () => number;
  readonly report: (error: unknown, resource: ServedResource) => void;
}

/** A kind that cannot be listed must not delay all others for longer than this. */
const SYNC_WAIT_MS = 30_000;
const OWNERS = Buffer.from('"ownerReferences"');
const DELETION = Buffer.from('"deletionTimestamp"');

const collectable = (resource: ServedResource): boolean =>
  resource.preferred &&
  resource.verbs.includes('delete') &&
  resource.verbs.includes('list') &&
  resource.verbs.includes('watch') &&
  // Events expire, and there are many.
  resource.kind !== 'Event';

export class Monitors {
  private readonly options: MonitorsOptions;
  private readonly monitors = new Map<string, Monitor>();
  private readonly stopping = new AbortController();
  private waiting: Promise<void>;

  constructor(options: MonitorsOptions) {
    this.options = options;
    this.waiting = new Promise((resolve) => this.stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  /** Watches the kinds that are served now or may be stored, and stops watching the others. */
  update({ resources, unserved, failed }: Discovered): void {
    const collectableById = new Map([...resources, ...unserved].filter(collectable).map((resource) => [idOf(resource), resource]));
    for (const [id, monitor] of this.monitors) {
      // A group whose discovery failed may still serve it.
      if (collectableById.has(id) || failed.has(apiVersionOf(monitor.resource))) continue;
      monitor.following.stop();
      this.monitors.delete(id);
      this.options.graph.forget(monitor.resource);
    }
    for (const [id, resource] of collectableById) if (!this.monitors.has(id)) this.monitors.set(id, this.follow(resource));
    this.waiting = this.settled([...this.monitors.values()].map(({ synced }) => synced));
  }
  /** Resolves to true when the objects of all watched kinds are known; to false when the controller stops. */
  async ready(): Promise<boolean> {
    for (let awaitedRound: Promise<void> | undefined; awaitedRound !== this.waiting && !this.stopping.signal.aborted; ) {
      awaitedRound = this.waiting;
      await awaitedRound;
    }
    return !this.stopping.signal.aborted;
  }
  stop(): void {
    this.stopping.abort();
    for (const { following } of this.monitors.values()) following.stop();
    this.monitors.clear();
  }

  private async settled(all: readonly Promise<void>[]): Promise<void> {
    const { clock } = this.options;
    const enough = new AbortController();
    const stop = (): void => enough.abort();
    this.stopping.signal.addEventListener('abort', stop, { once: true });
    const timeout = clock.sleep(SYNC_WAIT_MS, enough.signal).catch(() => {});
    await Promise.race([Promise.all(all), timeout]);
    this.stopping.signal.removeEventListener('abort', stop);
    enough.abort();
  }

  private follow(resource: ServedResource): Monitor {
    const { client, graph, clock, spread, report } = this.options;
    const kind = kindKey(resource.group, resource.kind);
    let done: () => void = () => {};
    const synced = new Promise<void>((resolve) => {
      done = resolve;
    });
    /** Objects in the graph that have not appeared in the current list so far. */
    let unseen = new Set<string>();
    const following = new Following<ApiObject>(
      { client, resource, metadataOnly: true, takesWritersObjects: true, clock, spread, report: (error) => report(error, resource) },
      {
        begin: () => {
          unseen = new Set();
          for (const node of graph) if (node.resource !== undefined && sameResource(node.resource, resource)) unseen.add(node.uid);
        },
        listed: (object) => {
          unseen.delete(object.metadata.uid ?? '');
          graph.saw(resource, object);
        },
        complete: () => {
          for (const uid of unseen) graph.lost(uid);
          done();
        },
        changed: (type, object) => {
          if (type === 'DELETED') graph.lost(object.metadata.uid ?? '');
          else graph.saw(resource, object);
        },
        // While no object of the kind is in the graph, only those that name owners or are being deleted can enter it.
        wants: (_type, source) => graph.countOf(kind) > 0 || source.includes(OWNERS) || source.includes(DELETION),
      },
    );
    following.start();
    return { resource, following, synced };
  }
}

const idOf = (resource: ServedResource): string => `${resource.group}/${resource.version}/${resource.name}`;
