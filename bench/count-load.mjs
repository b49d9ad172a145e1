// A load of a given number of requests, by a client of Node: for short runs and machines without wrk. Its rates are the client's.
import { randomUUID } from 'node:crypto';
import { call, cpuOf, inParallel } from './tools.mjs';

/** Sends `request(n, id)` for each n; answers what `load` of tools.mjs does. */
export async function loadByCount(address, request, { requests, connections = 32, token = undefined, pid }) {
  const id = randomUUID().slice(0, 8);
  const times = [];
  let failed = 0;
  const before = cpuOf(pid);
  const began = performance.now();
  await inParallel(requests, Math.min(connections, requests), async (n) => {
    const { method, path, headers, body } = request(n, id);
    const sent = performance.now();
    const { status } = await call(address, method, path, body, { headers, keep: false, ...(token !== undefined && { token }) });
    times.push(performance.now() - sent);
    if (status >= 400) failed++;
  });
  const seconds = (performance.now() - began) / 1000;
  const after = cpuOf(pid);
  times.sort((a, b) => a - b);
  const at = (share) => +times[Math.floor(times.length * share)].toFixed(1);
  const each = (which) => +((after[which] - before[which]) / requests).toFixed(1);
  return {
    requests,
    rate: Math.round(requests / seconds),
    p50: at(0.5),
    p99: at(0.99),
    failed,
    cpu: { all: each('all'), main: each('main') },
  };
}
