/** What describers read besides the object: other objects of the cluster, and events. */
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import type { Event } from '@plat-dev/kinds/core/schema/events';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { Work } from '../work.ts';
import { type Described, type ReadForm, withoutNulls } from './values.ts';

/** A built-in resource, by its group without suffix: `coordination`. */
export interface BuiltIn {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly namespaced: boolean;
}
const namespaced = (group: string, version: string, name: string): BuiltIn => ({ group, version, name, namespaced: true });
export const builtIns = {
  endpoints: namespaced('', 'v1', 'endpoints'),
  events: namespaced('', 'v1', 'events'),
  leases: namespaced('coordination', 'v1', 'leases'),
  limitRanges: namespaced('', 'v1', 'limitranges'),
  pods: namespaced('', 'v1', 'pods'),
  replicaSets: namespaced('apps', 'v1', 'replicasets'),
  resourceQuotas: namespaced('', 'v1', 'resourcequotas'),
  secrets: namespaced('', 'v1', 'secrets'),
  services: namespaced('', 'v1', 'services'),
} as const;

export interface ListChoice {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}
/** The object that events are about. Without a kind or UID events of any are found. */
export interface EventsOf {
  readonly namespace: string;
  readonly name: string;
  readonly kind?: string;
  readonly uid?: string;
}

export class Cluster {
  readonly identity: Identity;
  private readonly work: Work;
  /** Objects of a page of a list; 0 asks for all at once. */
  private readonly chunkSize: number;

  constructor(work: Work, identity: Identity, chunkSize: number) {
    this.work = work;
    this.identity = identity;
    this.chunkSize = chunkSize;
  }
  get now(): number {
    return this.work.io.clock.now();
  }
  async get<T>(resource: BuiltIn, namespace: string, name: string): Promise<Described<T>> {
    const path = pathOf(this.full(resource), namespace, name);
    return withoutNulls(await this.json<object>(path)) as Described<T>;
  }
  /** An undefined namespace means all of them. */
  async list<T>(resource: BuiltIn, namespace: string | undefined, choice: ListChoice = {}): Promise<Described<T>[]> {
    const path = pathOf(this.full(resource), namespace);
    const items: Described<T>[] = [];
    let next: string | undefined;
    do {
      const query = queryOf({ ...choice, limit: this.chunkSize === 0 ? undefined : this.chunkSize, continue: next });
      const page = await this.json<{ metadata?: { continue?: string }; items?: unknown[] | null }>(
        query === '' ? path : `${path}?${query}`,
      );
      for (const item of page.items ?? []) items.push(withoutNulls(item) as Described<T>);
      next = page.metadata?.continue;
    } while (next);
    return items;
  }
  /** Events of an object; none where they cannot be read. */
  async events({ namespace, name, kind, uid }: EventsOf): Promise<ReadForm<Event>[]> {
    const about: Record<string, string | undefined> = { kind, name, namespace, uid };
    const fieldSelector = Object.entries(about)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => `involvedObject.${field}=${value}`)
      .join(',');
    return this.list<Event>(builtIns.events, namespace === '' ? undefined : namespace, { fieldSelector }).catch(() => []);
  }
  private full({ group, ...rest }: BuiltIn) {
    return { ...rest, group: groupName(this.identity, group) };
  }
  private json<T>(path: string): Promise<T> {
    return this.work.session.transport.json<T>({ path, signal: this.work.signal, ...this.work.session.timeout });
  }
}
