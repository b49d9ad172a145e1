// What reads of history cost: node bench/history-reads.mjs [lmdb|memory]
// The history of a config map of 1 KB with 1,000 versions, from request to answer; and pages of the history of 5,000 such objects with
// four versions each: the longest turn of the event loop, in processor time of the main thread, and what a page takes.
import { median } from './figures.mjs';
import { must, send, startProbed } from './worst-server.mjs';

const store = process.argv[2] ?? 'lmdb';
const [VERSIONS, OBJECTS, ROUNDS, WRITERS] = [1_000, 5_000, 4, 16];
const WARM_UPS = 40;
const MEASURED = 60;
const path = '/api/v1/namespaces/default/configmaps';
const server = await startProbed(['--store', store, '--controllers=-*', '--runtime-config', 'explain.k8s.io/v1alpha1=true']);

const write = (name, n) => {
  const object = { metadata: { name }, data: { text: 'x'.repeat(1000), n: `${n}` } };
  return n === 0 ? must(server, 'POST', path, object) : must(server, 'PUT', `${path}/${name}`, object);
};
async function read(query, headers = {}) {
  const began = performance.now();
  const answer = await send(server, { path: `${path}${query}`, headers, keep: true });
  if (answer.status !== 200) throw new Error(answer.text);
  return { ...answer, millis: performance.now() - began };
}

for (let n = 0; n < VERSIONS; n++) await write('one', n);
const times = [];
for (let i = 0; i < WARM_UPS + MEASURED; i++) times.push((await read(`/one?history=true&limit=${VERSIONS}`)).millis);
const measured = times.slice(WARM_UPS).sort((a, b) => a - b);
const [middle, most] = [median(measured), measured[Math.floor(MEASURED * 0.9)]].map((millis) => millis.toFixed(0));
console.log(
  `${store}, ${VERSIONS} versions of an object: ${middle} ms in the median, 9 of 10 within ${most} ms, ${measured.at(-1).toFixed(0)} ms at worst`,
);

for (let n = 0; n < ROUNDS; n++) {
  let next = 0;
  const writeRest = async () => {
    while (next < OBJECTS) await write(`o${next++}`, n);
  };
  await Promise.all(Array.from({ length: WRITERS }, writeRest));
}
const asTable = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
for (const [query, headers] of [
  ['history=true', {}],
  ['history=full', {}],
  ['history=true', asTable],
  ['history=true&user=nobody', {}],
]) {
  const pages = [];
  let token = '';
  do {
    await server.ask('begin');
    const { body, millis } = await read(`?${query}&continue=${token}`, headers);
    pages.push({ millis, ...(await server.ask('end')) });
    token = /"continue":"([^"]+)"/.exec(body.toString('utf8', 0, 1000))?.[1] ?? '';
  } while (token !== '');
  const longest = Math.max(...pages.map(({ longestCpu }) => longestCpu)).toFixed(0);
  const [cpu, millis] = [pages.map((page) => page.cpu), pages.map((page) => page.millis)].map((all) => median(all).toFixed(0));
  console.log(
    `${query}${headers === asTable ? ' as a Table' : ''}: ${pages.length} pages, longest turn ${longest} ms; a page ${millis} ms, ${cpu} ms of processor time`,
  );
}
await server.stop();
process.exit(0);
