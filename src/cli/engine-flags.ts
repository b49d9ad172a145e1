/**
 * When the engine optimizes code. By itself it waits until a function has run for long, which suits programs that end soon: a
 * server needs thousands of requests until most of what they run is optimized. With these flags a function is watched and
 * optimized after a fifth of that, which pays after some thousand requests (docs/decisions/012-compiled-bundle.md).
 *
 * They are set once the server has worked for a while: a server that answers a few hundred requests and ends would only pay for
 * the compiler, and what a start runs once is not worth it. Besides, compiled code is accepted only under the flags that it was
 * made with.
 */
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../lib/clock.ts';
import { giveHeapRoom } from './heap-growth.ts';

const FLAGS = ['--interrupt-budget=12000', '--interrupt-budget-factor-for-feedback-allocation=2'];

/** Later releases have another compiler in between, with a measure of its own. */
const MEASURED_WITH = '20.';

const INTERVAL_MS = 500;
/** Part of a core. What a server does by itself, with nobody asking, is less. */
const BUSY = 0.25;
/** Processor time of busy intervals after which a server is taken for one that goes on: some thousand requests. */
const WORK_MS = 2_000;

/** What a process that serves sets; nothing in a release in which the effect is not known. */
export const flagsOf = (nodeVersion: string): readonly string[] => (nodeVersion.startsWith(MEASURED_WITH) ? FLAGS : []);

/** Sets the flags when the process has worked for a while. Returns the function that ends the wait for it. */
export function optimizeOnceBusy(clock: Clock, cpuMillis: () => number = processorMillis, set: () => void = setFlags): () => void {
  let before = cpuMillis();
  let work = 0;
  const look = (): void => {
    const now = cpuMillis();
    if (now - before >= BUSY * INTERVAL_MS) work += now - before;
    before = now;
    if (work >= WORK_MS) set();
    else cancel = clock.after(INTERVAL_MS, look);
  };
  let cancel = clock.after(INTERVAL_MS, look);
  return () => cancel();
}

/** What the program does in its own process: the flags, and from then on room for the heap. */
export function tuneOnceBusy(clock: Clock): () => void {
  let end = optimizeOnceBusy(clock, processorMillis, () => {
    setFlags();
    if (flagsOf(process.versions.node).length > 0) end = giveHeapRoom(clock);
  });
  return () => end();
}

function processorMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function setFlags(): void {
  for (const flag of flagsOf(process.versions.node)) setFlagsFromString(flag);
}
