/** The contract of a describer: how the page of one kind is written. */
import type { Cluster, EventsOf } from './cluster.ts';
import type { Page } from './page.ts';
import type { Described } from './values.ts';

export interface Describer<T = never> {
  /** The group whose versions it knows, where that is not the group of the object. */
  readonly group?: string;
  /** Versions that it knows, the best one first; `v1` if it does not say. Objects of other versions are read again in one of these. */
  readonly versions?: readonly string[];
  /** Everything but the events. */
  write(page: Page, object: Described<T>, cluster: Cluster, version: string): Promise<void>;
  /** False if the page has no events; or which ones it has, if not those of kind, name and UID of the object. */
  readonly events?: false | ((object: Described<T>, about: EventsOf, cluster: Cluster) => readonly EventsOf[]);
}
