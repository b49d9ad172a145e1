import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Integer } from '@plat-dev/lib/integers';
import type { Item } from '@plat-dev/storage/item';

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
