/**
 * Kills a server on the embedded store at random points under load, and checks that nothing acknowledged is lost:
 *
 *   node bench/crash.mjs [--kills 200] [--writes 100000] [--seconds 3600] [--seed N]
 *   node bench/crash.mjs --power [--kills 100] [--writes 0]     a kill also takes away what was not synced
 *   node bench/crash.mjs --power --lying --kills 5              a disk that does not sync: faults must be found
 *
 * Needs `npm run build`. Prints figures as JSON and as a row of docs/reliability.md; ends with 1 when there was a fault.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, temporary } from './tools.mjs';
import { flag, importTyped, option, row } from './typed.mjs';

const { runCrashes } = await importTyped('test/faults/crash/run.ts');
const { buildShim } = await importTyped('test/faults/disk/shim.ts');
const powerLoss = flag('power');
const directory = temporary('crash');
mkdirSync(directory, { recursive: true });
const { path: shim, missing } = buildShim(join(directory, 'shim'));
if (missing !== undefined) {
  console.error(`kills at chosen disk calls and power losses are left out: ${missing}`);
  if (powerLoss) process.exit(2);
}
const seed = Number(option('seed', Date.now() % 1_000_000_000));
console.error(`seed ${seed}`);
let reported = performance.now();
const figures = await runCrashes({
  seed,
  kills: Number(option('kills', powerLoss ? 100 : 200)),
  writes: Number(option('writes', powerLoss ? 0 : 100_000)),
  seconds: Number(option('seconds', 3_600)),
  writers: Number(option('writers', 32)),
  loadMs: Number(option('load-ms', 2_500)),
  powerLoss,
  lying: flag('lying'),
  shim,
  directory,
  program: join(root, 'dist/plat.js'),
  progress({ kills, acknowledgedWrites, faults, seconds }) {
    if (performance.now() - reported < 10_000) return;
    reported = performance.now();
    console.error(`${seconds} s: ${kills} kills, ${acknowledgedWrites} acknowledged writes, ${faults.length} faults`);
  },
});
console.log(JSON.stringify(figures, null, 2));
const { kills, killsBy, acknowledgedWrites, unansweredWrites, undurableWrites, lost, resurrected, revisionFaults, watchFaults } = figures;
const how = `${kills} (${killsBy.load} under load, ${killsBy.disk} at a disk call, ${killsBy.start} during a start)`;
const name = powerLoss ? 'power loss' : 'kill −9';
console.log(
  '| test | kills | acknowledged writes | unanswered | writes not durable | lost | resurrected | revisions | watches | other | seed |',
);
console.log(
  row([
    name,
    how,
    acknowledgedWrites,
    unansweredWrites,
    powerLoss ? undurableWrites : '–',
    lost,
    resurrected,
    revisionFaults,
    watchFaults,
    figures.otherFaults,
    seed,
  ]),
);
process.exit(figures.faults.length === 0 ? 0 : 1);
