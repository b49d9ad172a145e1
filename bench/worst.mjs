// The worst request of every kind that the server allows, one after another: how long each holds the event loop at a time, how
// much processor time it takes, and how much memory.
//
//   node bench/worst.mjs                 all cases; the exit code is 1 when one exceeds its limit
//   node bench/worst.mjs --only create   cases whose name contains the text (several: --only 'a|b')
//   node bench/worst.mjs --not workloads no cases whose name contains the text (several: --not 'a|b')
//   node bench/worst.mjs --edit          only what a user with the role `edit` can do with commands, watches, owners and many pods
//   node bench/worst.mjs --as-editor     the requests are those of a user with `edit` in the namespace, who is limited as others are
//   node bench/worst.mjs --part 2/5      the second of five parts of the cases
//   node bench/worst.mjs --json          one JSON line a case
//   node bench/worst.mjs --profile DIR   leaves a CPU profile of each case there
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cases, seed, seedOrder } from './worst-cases.mjs';
import { sendMeasured, sleep, startProbed } from './worst-server.mjs';
import { storedCases } from './worst-stored.mjs';

const olderCases = new Set(storedCases);
await import('./worst-edit.mjs');
await import('./worst-questions.mjs');

/** Longest that the loop may be held at a time, in ms of the main thread's processor time. */
const BLOCK_MS = 50;
/** How often a case is measured that holds the loop for longer. */
const TRIES = 3;
/** Most memory above idle, as a multiple of what was sent … */
const MEMORY_TIMES = 20;
/** … or this much, which small requests with large answers may take: young garbage before it is collected. */
const MEMORY_FLOOR_MB = 64;

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const only = option('--only')?.split('|');
const not = option('--not')?.split('|') ?? [];
const isEditOnly = process.argv.includes('--edit');
const isEditor = process.argv.includes('--as-editor');
const [part, parts] = (option('--part') ?? '1/1').split('/').map(Number);
const json = process.argv.includes('--json');
const profiles = option('--profile');
if (profiles !== undefined) mkdirSync(profiles, { recursive: true });

/** What is stored is touched on a server with workloads, too. */
const chosenStored = isEditOnly ? storedCases.filter((test) => !olderCases.has(test)) : storedCases;
const withWorkloads = chosenStored.map((test) => ({ ...test, name: `${test.name}, workloads` }));
const isChosen = ({ name }) => (only === undefined || only.some((text) => name.includes(text))) && !not.some((text) => name.includes(text));
const chosen = [...(isEditOnly ? [] : cases), ...chosenStored, ...withWorkloads].filter(isChosen);
const ofPart = new Set(chosen.slice(((part - 1) * chosen.length) / parts, (part * chosen.length) / parts));
let server;
const results = [];
await measureAll(
  [...ofPart].filter((test) => !withWorkloads.includes(test)),
  [],
);
await measureAll(
  withWorkloads.filter((test) => ofPart.has(test)),
  ['--workloads'],
);
const bad = results.filter(({ verdict }) => !verdict.startsWith('ok'));
if (!json) {
  console.log(
    `\n${results.length} cases, ${bad.length} over their limit (${BLOCK_MS} ms at a time; ${MEMORY_TIMES} times the request or ${MEMORY_FLOOR_MB} MB).`,
  );
  for (const result of bad) console.log(row(result));
}
process.exitCode = bad.length > 0 ? 1 : 0;

async function measureAll(tests, flags) {
  if (tests.length === 0) return;
  server = await startProbed(flags, isEditor);
  // What the server does after its start is no case's.
  await quiet();
  const seeded = new Set();
  try {
    for (const test of tests) {
      for (const needed of test.needs === undefined ? [] : [...(seedOrder[test.needs] ?? []), test.needs]) {
        if (seeded.has(needed)) continue;
        seeded.add(needed);
        await seed[needed](server);
        await quiet();
      }
      const result = await medianOf(test);
      results.push(result);
      if (json) console.log(JSON.stringify(result));
      else console.log(row(result));
    }
  } finally {
    await server.stop();
  }
}

function row(r) {
  const block = `${r.blockMs.toFixed(0).padStart(6)} ms (clock ${r.clockMs.toFixed(0)}, gc ${r.gcMs.toFixed(0)})`.padEnd(34);
  const memory = `${r.memoryMB.toFixed(0).padStart(4)} MB ${r.times.toFixed(0).padStart(4)} x`;
  return `${r.name.padEnd(52)} ${String(r.status).padStart(4)} ${block} cpu ${r.cpuMs.toFixed(0).padStart(6)} ms  ${memory}  sent ${kb(r.sent)} got ${kb(r.got)}  ${r.verdict}`;
}
function kb(bytes) {
  return `${(bytes / 1024).toFixed(0)}K`.padStart(6);
}

/**
 * A case that holds the loop for too long is measured three times: a busy machine adds to the processor time of a turn, too. The try
 * with the median turn counts, and the turns of all are shown. Of a case that can be made only once, such as a deletion, the worst counts.
 */
async function medianOf(test) {
  const tries = [await measure(test)];
  const [{ status, verdict }] = tries;
  let isRepeatable = true;
  while (verdict.includes('BLOCKS') && isRepeatable && tries.length < TRIES) {
    const next = await measure(test);
    isRepeatable = next.status === status;
    if (isRepeatable) tries.push(next);
  }
  if (tries.length === 1) return tries[0];
  const turns = tries.map(({ blockMs }) => blockMs.toFixed(0)).join(', ');
  tries.sort((a, b) => a.blockMs - b.blockMs);
  const counted = tries[tries.length === TRIES ? Math.floor(TRIES / 2) : tries.length - 1];
  return { ...counted, verdict: `${counted.verdict} (${tries.length === TRIES ? 'median' : 'worst'} of ${turns} ms)` };
}

async function measure(test) {
  let request;
  let storing;
  try {
    if (test.stored !== undefined) await server.ask('begin', profiles !== undefined);
    request = await test.request(server);
    if (test.stored !== undefined) {
      await quiet();
      storing = await server.ask('end');
      keepProfile(`${test.name} storing`, storing);
    }
  } catch (error) {
    return {
      name: test.name,
      status: 0,
      blockMs: 0,
      clockMs: 0,
      gcMs: 0,
      cpuMs: 0,
      memoryMB: 0,
      times: 0,
      sent: 0,
      got: 0,
      verdict: `not made: ${error.message.slice(0, 200)}`,
    };
  }
  await quiet();
  await server.ask('begin', profiles !== undefined);
  const idle = resident('VmRSS');
  const mapped = resident('RssFile');
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const requests = Array.isArray(request) ? request : [request];
  const answers = await Promise.all(
    requests.map((one) => sendMeasured(server, one).catch((error) => ({ status: error.code ?? 'error', bytes: 0, text: String(error) }))),
  );
  await quiet();
  const peak = resident('VmHWM');
  const mappedAfter = resident('RssFile');
  const measured = await server.ask('end');
  keepProfile(test.name, measured);
  const stored = test.stored?.() ?? 0;
  await test.after?.(server);
  // What a namespace leaves to do is not the work of the next case.
  if (test.stored !== undefined) await quiet();
  const [answer] = answers;
  const length = (one) => (one.body?.length ?? 0) + one.path.length + JSON.stringify(one.headers ?? {}).length;
  const sent = requests.reduce((sum, one) => sum + length(one), stored);
  const got = answers.reduce((sum, one) => sum + one.bytes, 0);
  // Pages of the store's file that were read are the page cache of the system, which takes them back when it needs them.
  const memoryMB = Math.max(0, (peak - idle - Math.max(0, mappedAfter - mapped)) / 1024);
  const times = (memoryMB * 2 ** 20) / sent;
  const faults = [];
  const longest = storing === undefined || measured.longestCpu > storing.longestCpu ? measured : storing;
  if (longest.longestCpu > BLOCK_MS) faults.push(longest === storing ? 'BLOCKS when stored' : 'BLOCKS');
  if (times > MEMORY_TIMES && memoryMB > MEMORY_FLOOR_MB) faults.push('MEMORY');
  const expected = test.statuses ?? [200, 201, 413, 422];
  const isExpected = ({ status }) => expected.includes(status) || (isEditor && status === 403);
  if (!answers.every(isExpected)) faults.push(`STATUS ${answer.text?.slice(0, 300)}`);
  return {
    name: test.name,
    status: answer.status,
    blockMs: longest.longestCpu,
    clockMs: longest.longestWall,
    gcMs: longest.longestGc,
    cpuMs: measured.cpu,
    memoryMB,
    times,
    sent,
    got,
    verdict: faults.length === 0 ? 'ok' : faults.join(' '),
    ...(answer.status >= 400 && { text: answer.text }),
  };
}

function keepProfile(name, { profile }) {
  if (profile !== undefined) writeFileSync(join(profiles, `${name.replaceAll(/[^\w.-]+/g, '-')}.cpuprofile`), JSON.stringify(profile));
}

function resident(name) {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);
}

/** Waits until the server has nothing left to do: what a request leaves to controllers counts as its work. */
async function quiet() {
  for (let i = 0, still = 0; i < 300 && still < 2; i++) {
    const before = await server.ask('look');
    await sleep(60);
    const after = await server.ask('look');
    // The probe itself takes some of the time, and more of it on a busy machine.
    still = after.cpu - before.cpu < Math.max(6, (after.now - before.now) / 8) ? still + 1 : 0;
  }
}
