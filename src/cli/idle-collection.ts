/**
 * Garbage of a burst of work is collected once the server is idle. The engine collects only as objects are made: a server that has
 * made ten thousand pods and then waits keeps what that left behind, and all the room for young objects, until more is made.
 *
 *   calm ──a busy interval──→ busy ──two quiet intervals──→ collect ──→ calm
 *
 * Such a collection is not incremental: it holds the process, longer the more objects there are. So it is done once after a burst,
 * and only where there is much to gain.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../lib/clock.ts';

export interface ProcessUse {
  /** Processor time of the process so far, in milliseconds. */
  cpuMillis(): number;
  /** Bytes of the heap and of buffers. */
  bytes(): number;
  collect(): void;
}

const INTERVAL_MS = 4_000;
/** Parts of a core. */
const BUSY = 0.25;
const QUIET = 0.05;
const QUIET_INTERVALS = 2;
/** Less than this beyond what the last collection left is not worth one. */
const WORTH_BYTES = 64 * 2 ** 20;

/** Returns the function that ends it. */
export function collectWhenIdle(clock: Clock, use: ProcessUse = processUse()): () => void {
  let before = use.cpuMillis();
  let left = 0;
  let isBusy = false;
  let quiet = 0;
  const look = (): void => {
    const now = use.cpuMillis();
    const share = (now - before) / INTERVAL_MS;
    before = now;
    if (share >= BUSY) isBusy = true;
    quiet = share < QUIET ? quiet + 1 : 0;
    if (isBusy && quiet >= QUIET_INTERVALS && use.bytes() - left >= WORTH_BYTES) {
      use.collect();
      isBusy = false;
      left = use.bytes();
      before = use.cpuMillis();
    }
    cancel = clock.after(INTERVAL_MS, look);
  };
  let cancel = clock.after(INTERVAL_MS, look);
  return () => cancel();
}

function processUse(): ProcessUse {
  let collect: (() => void) | undefined;
  return {
    cpuMillis: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    bytes: () => {
      const { heapTotal, external } = process.memoryUsage();
      return heapTotal + external;
    },
    collect: () => {
      collect ??= exposedCollector();
      collect();
    },
  };
}

/** The flag is set back: compiled code is accepted only under the flags that it was made with. */
function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as () => void;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
