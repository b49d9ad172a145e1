/**
 * Three servers on three members of etcd, while members and servers are killed, frozen and cut off and clocks jump:
 *
 *   node bench/histories.mjs [--seconds 1800] [--seed N] [--clients 6] [--watches 3] [--pause-ms 20]
 *
 * Needs `npm run build` and etcd. Prints figures as JSON and as a row of docs/reliability.md; ends with 1 at a violation.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, temporary } from './tools.mjs';
import { importTyped, option, row } from './typed.mjs';

const { runHistories } = await importTyped('test/faults/histories/run.ts');
const directory = temporary('histories');
mkdirSync(directory, { recursive: true });
const seed = Number(option('seed', Date.now() % 1_000_000_000));
console.error(`seed ${seed}`);
let reported = 0;
const figures = await runHistories({
  seed,
  seconds: Number(option('seconds', 1_800)),
  clients: Number(option('clients', 6)),
  watches: Number(option('watches', 3)),
  pauseMs: Number(option('pause-ms', 20)),
  directory,
  program: join(root, 'dist/plat.js'),
  clock: join(root, 'test/faults/histories/clock.cjs'),
  progress({ seconds, operations, unknownOutcomes, watchEvents, violations }) {
    if (seconds < reported + 10) return;
    reported = seconds;
    console.error(
      `${seconds} s: ${operations} operations, ${unknownOutcomes} unknown, ${watchEvents} events, ${violations.length} violations`,
    );
  },
});
console.log(JSON.stringify(figures, null, 2));
const { seconds, operations, unknownOutcomes, objects, lists, watchEvents, resumes, faults, violations } = figures;
const made = Object.entries(faults).map(([name, count]) => `${count} × ${name}`);
console.log('| seconds | operations | unknown outcomes | objects | lists | watch events | resumes | faults | violations | seed |');
console.log(row([seconds, operations, unknownOutcomes, objects, lists, watchEvents, resumes, made.join(', '), violations.length, seed]));
process.exit(violations.length === 0 ? 0 : 1);
