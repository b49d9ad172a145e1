/**
 * How far the heap grows between two collections of all of it. By itself the engine lets a heap that grows slowly grow by some
 * megabytes: a server with few objects, whose heap has 30, collected all of it after 4,000 to 8,000 writes, which took 80 ms of the
 * main thread and twice that of others each time. A small heap gets room instead; that of a large one is the engine's own choice,
 * since there the room would be much memory, and collections are as rare as that.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../lib/clock.ts';

/** What a heap may grow by, in bytes, and what part of its size at most and at least; below that the engine decides. */
const ROOM = 64 * 2 ** 20;
const MOST_PERCENT = 200;
const STEP_PERCENT = 25;
/** A heap may grow while the flag is that of a smaller one. */
const INTERVAL_MS = 1000;

export interface HeapUse {
  /** Bytes of objects that have survived collections of the young. */
  oldBytes(): number;
  setPercent(percent: number): void;
}

/** 0: the engine's own choice. */
export function growthPercent(oldBytes: number): number {
  const percent = Math.floor((ROOM * 100) / oldBytes / STEP_PERCENT) * STEP_PERCENT;
  return Math.min(percent, MOST_PERCENT);
}

/** Follows the size of the heap. Returns the function that ends it. */
export function giveHeapRoom(clock: Clock, use: HeapUse = engine): () => void {
  let percent = 0;
  const look = (): void => {
    const wanted = growthPercent(use.oldBytes());
    if (wanted !== percent) use.setPercent(wanted);
    percent = wanted;
    cancel = clock.after(INTERVAL_MS, look);
  };
  let cancel = (): void => {};
  look();
  return () => cancel();
}

const engine: HeapUse = {
  oldBytes: () => {
    let bytes = 0;
    for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) if (!name.startsWith('new_')) bytes += used;
    return bytes;
  },
  setPercent: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
};
