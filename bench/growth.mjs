// Many pods: memory, full lists, one by label, and a get while full lists run without end.
import { call, inParallel, must, residentMB, samplePod, startPlat } from './tools.mjs';

const pod = (name) => samplePod(name, 'grow');
const median = (values, share = 0.5) => +[...values].sort((a, b) => a - b)[Math.floor(values.length * share)].toFixed(1);

export async function growth(pods) {
  let server = await startPlat();
  const namespaces = Array.from({ length: 10 }, (_, i) => `grow${i}`);
  for (const name of namespaces) {
    await must(server.address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await call(server.address, 'POST', `/api/v1/namespaces/${name}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    });
  }
  let began = performance.now();
  await inParallel(pods, 32, (i) => must(server.address, 'POST', `/api/v1/namespaces/${namespaces[i % 10]}/pods`, pod(`p${i}`)));
  const createdPerSecond = Math.round(pods / ((performance.now() - began) / 1000));
  const filledMB = residentMB(server.pid);
  await server.stop();
  server = await startPlat([], server.dataDir);
  const { address } = server;
  const restartedMB = residentMB(server.pid);
  const timed = async (path) => {
    const times = [];
    let bytes = 0;
    for (let i = 0; i < 3; i++) {
      began = performance.now();
      bytes = (await must(address, 'GET', path)).body.length;
      times.push(performance.now() - began);
    }
    return { ms: median(times), MB: +(bytes / 1e6).toFixed(1) };
  };
  const fullList = await timed('/api/v1/pods');
  const byLabel = await timed('/api/v1/pods?labelSelector=index%3Dp77');
  let stop = false;
  const lists = [0, 1].map(async () => {
    // Whoever put the lists together would keep this process, which also takes the time of the gets, from its work.
    while (!stop) await must(address, 'GET', '/api/v1/pods', undefined, { keep: false });
  });
  const delays = [];
  for (const end = performance.now() + 6000; performance.now() < end; ) {
    began = performance.now();
    await must(address, 'GET', '/api/v1/namespaces/grow1/pods/p1');
    delays.push(performance.now() - began);
  }
  stop = true;
  await Promise.all(lists);
  const afterListsMB = residentMB(server.pid);
  await server.stop();
  return {
    pods,
    createdPerSecond,
    filledMB,
    restartMs: server.readyMs,
    restartedMB,
    fullList,
    byLabel,
    getDuringLists: { p50: median(delays), p99: median(delays, 0.99) },
    afterListsMB,
  };
}
