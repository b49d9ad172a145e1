/**
 * What other API servers say of their resources, for aggregated discovery: fetched in the background when a server becomes available,
 * and again from time to time. A server that does not answer keeps its last document, which then counts as stale.
 */

import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { type APIResource, APIResourceList } from '@plat-dev/kinds/meta-kinds';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { Ticker } from '@plat-dev/lib/ticker';
import { decode } from '@plat-dev/schema/json';
import type { Backend, Backends } from './backends.ts';

/** One group version of another server. */
export interface RemoteVersion {
  /** Absent: it was never fetched. */
  readonly resources?: readonly APIResource[];
  readonly isCurrent: boolean;
}
export interface RemoteResourcesOptions {
  readonly apiServices: LiveView<APIService>;
  readonly backends: Backends;
  readonly clock: Clock;
}

/** Interval of fetches, delay after a change, and timeout of a fetch. */
const PERIOD_MS = 60_000;
const SETTLE_MS = 100;
const FETCH_MS = 5000;
/** Bytes of a document, and servers whose documents are fetched. */
const MAX_BYTES = 1024 * 1024;
const MAX_SERVERS = 256;
const reader = { name: 'system:kube-aggregator', groups: ['system:masters'] };

interface Fetched {
  readonly server: Backend['server'];
  readonly resources: readonly APIResource[] | undefined;
}

export class RemoteResources {
  private readonly options: RemoteResourcesOptions;
  /** By the names of APIServices. */
  private readonly documents = new Map<string, Fetched>();
  private readonly rounds: Ticker;
  private ends: (() => void)[] = [];
  private soon: Cancel | undefined;
  private isFetching = false;
  private changes = 0;

  constructor(options: RemoteResourcesOptions) {
    this.options = options;
    this.rounds = new Ticker(options.clock, PERIOD_MS, () => {
      void this.fetchAll(() => true);
      return this.backends().length > 0;
    });
  }

  /** Changes whenever `of` may return something else. */
  get generation(): string {
    return `${this.changes} ${this.options.apiServices.generation}`;
  }
  /** Undefined for a group version that no other server answers for. */
  of(group: string, version: string): RemoteVersion | undefined {
    const backend = this.options.backends.find(group, version);
    if (backend === undefined) return undefined;
    const { resources } = this.documents.get(backend.name) ?? {};
    return { ...(resources !== undefined && { resources }), isCurrent: backend.available && resources !== undefined };
  }

  start(): void {
    this.ends = [this.options.apiServices.onChange(() => this.look()), () => this.rounds.close(), () => this.soon?.()];
    this.look();
  }
  close(): void {
    for (const end of this.ends) end();
    this.ends = [];
  }

  private backends(): readonly Backend[] {
    return this.options.backends.all().slice(0, MAX_SERVERS);
  }
  private look(): void {
    const names = new Set(this.options.backends.all().map(({ name }) => name));
    for (const name of this.documents.keys()) if (!names.has(name) && this.documents.delete(name)) this.changes++;
    if (names.size > 0) this.rounds.start();
    if (this.soon !== undefined || !this.backends().some((backend) => this.isNew(backend))) return;
    this.soon = this.options.clock.after(SETTLE_MS, () => {
      this.soon = undefined;
      void this.fetchAll((backend) => this.isNew(backend));
    });
  }
  private isNew({ name, available, server }: Backend): boolean {
    return available && this.documents.get(name)?.server !== server;
  }

  private async fetchAll(isDue: (backend: Backend) => boolean): Promise<void> {
    if (this.isFetching || this.ends.length === 0) return;
    this.isFetching = true;
    const due = this.backends().filter((backend) => backend.available && isDue(backend));
    await Promise.all(due.map((backend) => this.fetch(backend)));
    this.isFetching = false;
    if (this.ends.length > 0) this.look();
  }
  private async fetch({ name, group, version, server, connect }: Backend): Promise<void> {
    const before = this.documents.get(name);
    const resources = await resourcesOf(server, `/apis/${group}/${version}`, connect);
    if (this.ends.length === 0 || this.options.backends.find(group, version)?.server !== server) return;
    this.documents.set(name, { server, resources: resources ?? before?.resources });
    if (resources !== undefined && !equal(resources, before?.resources)) this.changes++;
  }
}

/** Undefined where the server has no document that can be read. */
async function resourcesOf(
  server: Backend['server'],
  path: string,
  connect: Backend['connect'],
): Promise<readonly APIResource[] | undefined> {
  try {
    const { status, body } = await server.get(path, reader, { timeoutMs: FETCH_MS, verified: true, connect });
    if (status !== 200 || body.length > MAX_BYTES) return undefined;
    return decode(APIResourceList, JSON.parse(body.toString('utf8'))).resources ?? [];
  } catch {
    // A failed fetch is retried; availability is checked elsewhere.
    return undefined;
  }
}
