// Loaded into the server by bench/worst.mjs (`node --import`): measures the event loop from the inside and reports to the parent.
//
// Every turn of the loop runs one timer. The processor time that the main thread used between two of them is how long the loop
// was held; unlike the time on the clock it does not count other programs of the machine.
import { closeSync, openSync, readSync } from 'node:fs';
import inspector from 'node:inspector';
import { PerformanceObserver } from 'node:perf_hooks';

const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(64);
/** Processor time of the main thread so far, in ms. */
function mainThread() {
  const length = readSync(file, buffer, 0, 64, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}
process.on('exit', () => closeSync(file));

let began = mainThread();
let lastCpu = began;
let lastWall = performance.now();
let longestCpu = 0;
let longestWall = 0;
/** Beginning and end of the longest hold, in the µs of the profile. */
let longestBlock = [0, 0];
const tick = () => {
  const cpu = mainThread();
  const wall = performance.now();
  if (cpu - lastCpu > longestCpu) {
    longestCpu = cpu - lastCpu;
    const now = Number(process.hrtime.bigint() / 1000n);
    longestBlock = [now - (wall - lastWall) * 1000, now];
  }
  if (wall - lastWall > longestWall) longestWall = wall - lastWall;
  lastCpu = cpu;
  lastWall = wall;
  setTimeout(tick, 1).unref();
};
tick();

/** Longest pause for garbage on the clock: a part of the longest block that the request did not choose. */
let longestGc = 0;
const collections = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestGc = Math.max(longestGc, duration);
});
collections.observe({ entryTypes: ['gc'] });

let session;
const post = (method, parameters) => new Promise((resolve) => session.post(method, parameters, (_, result) => resolve(result)));

process.on('message', async ({ ask, profile }) => {
  if (ask === 'begin') {
    globalThis.gc?.();
    if (profile) {
      session = new inspector.Session();
      session.connect();
      await post('Profiler.enable');
      await post('Profiler.start');
    }
    // The pause of the collection above is not the request's.
    lastCpu = mainThread();
    lastWall = performance.now();
    began = lastCpu;
    longestCpu = 0;
    longestWall = 0;
    // The entry of the collection above comes in a later turn.
    setImmediate(() =>
      setImmediate(() => {
        longestGc = 0;
      }),
    );
    process.send({ pid: process.pid });
    return;
  }
  tickNow();
  const answer = { longestCpu, longestWall, longestGc, cpu: lastCpu - began, now: performance.now() };
  if (ask === 'end' && session !== undefined) {
    answer.profile = { ...(await post('Profiler.stop')).profile, longestBlock };
    session.disconnect();
    session = undefined;
  }
  process.send(answer);
});
process.channel?.unref();
function tickNow() {
  const cpu = mainThread();
  if (cpu - lastCpu > longestCpu) longestCpu = cpu - lastCpu;
  lastCpu = cpu;
}
