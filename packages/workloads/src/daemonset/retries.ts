/**
 * How often a pod that fails on a node is deleted and created again: at once, then after a second, two, four, … up to a quarter of
 * an hour. A node that was quiet for twice that time begins again.
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;
/** Nodes of all sets that are remembered; one that is forgotten is retried at once. */
const MOST_NODES = 10_000;

export class Retries {
  private readonly last = new BoundedCache<string, { readonly at: number; readonly delay: number }>(MOST_NODES);

  /** Milliseconds to wait; 0: now, which counts as the next try. */
  next(key: string, now: number): number {
    const last = this.last.get(key);
    const isNew = last === undefined || now - last.at > 2 * LONGEST_MS;
    if (!isNew && now - last.at < last.delay) return last.at + last.delay - now;
    this.last.set(key, { at: now, delay: isNew ? FIRST_MS : Math.min(last.delay * 2, LONGEST_MS) });
    return 0;
  }
}
