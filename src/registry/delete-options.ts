import type { ApiObject } from '../kinds/kind.ts';
import type { Integer } from '../lib/integers.ts';
import type { Item } from '../storage/item.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: Integer;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

export interface RemoveResult {
  /** The last state. */
  readonly item: Item;
  readonly object: ApiObject;
  /** False: it is marked and still exists. */
  readonly removed: boolean;
}
