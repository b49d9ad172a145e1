/**
 * Walks the pages of the store file without the database library, which crashes or loops on some
 * damaged ones: it trusts their content. Before a file is opened, every page of its trees is checked, and the
 * lists of free pages, since the library writes to those pages; verify and repair read rows in the same way.
 *
 *   page     number(8) transaction(8) pad(2) flags(2) lower(2) upper(2) places of nodes(2 each) … nodes
 *   node     low(2) high(2) flags(2) key size(2) key data        leaf: low, high = size of the data
 *                                                                branch: low, high, flags = number of the page below
 *   meta     magic(4) version(4) address(8) map size(8) free tree(48) main tree(48) last page(8) transaction(8)
 *   tree     pad(4) flags(2) depth(2) branch, leaf and overflow pages(8 each) entries(8) root(8)
 *   free     transaction(8) → count(8) entries(8 each): 0 for none, a page, or -n and the first of n pages
 *
 * Numbers are little-endian. Large data is on pages of its own, which the node names: number(8) transaction(8) pages(8).
 */

import { closeSync, openSync } from 'node:fs';
import type { PageWalk, WalkOptions } from './page-walk.ts';
import { Walker } from './page-walker.ts';

/** Pages that are read at a time while the store is open: checking them takes less than a millisecond. */
const RUN_IN_USE = 32;

export function walkPages(path: string, options: WalkOptions = {}): PageWalk {
  const descriptor = openSync(path, 'r');
  try {
    const walker = new Walker(descriptor, options);
    for (const _ of walker.steps());
    return walker.found;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The same for a file that the library has open, while an older transaction of it keeps all reachable pages
 * unchanged: the library reuses none that a later transaction has freed. Between two steps comes a pause, which
 * throws when the walk is to end.
 */
export async function walkPagesInUse(path: string, pause: () => Promise<void>): Promise<PageWalk> {
  const descriptor = openSync(path, 'r');
  try {
    const walker = new Walker(descriptor, { run: RUN_IN_USE });
    for (const _ of walker.steps()) await pause();
    return walker.found;
  } finally {
    closeSync(descriptor);
  }
}
