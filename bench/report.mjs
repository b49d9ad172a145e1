// What `npm run bench --write` adds to bench/RESULTS.md.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { fanOutText } from './fan-out.mjs';
import { head, range, row } from './figures.mjs';
import { root } from './tools.mjs';

export function report({ options, sizes, targets, rows, fans, starts, grown }) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const ofBare = (which, of) => range(rows.filter((found) => found.which === which).flatMap(({ bare }) => bare[of]));
  const length = options.requests === undefined ? `${options.seconds} s` : `${options.requests} requests`;
  return [
    `\n## ${targets.map(({ name }) => name).join(', ')}: ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ${process.version}, ${commit}\n`,
    `Bare node:https in the same run: ${ofBare('small', 'rates')}/s with ${sizes.small} bytes, ${ofBare('large', 'rates')}/s with ${sizes.large} bytes; it takes ${ofBare('small', 'micros')} and ${ofBare('large', 'micros')} µs of CPU for one. ${options.connections} connections, ${options.rounds} rounds of ${length} each, all servers in turn in each round; medians. Writes to lmdb and etcd are durable. Load average at the end: ${loadavg()[1].toFixed(1)} (5 minutes).\n`,
    ...(targets.length > 1 ? together(targets, rows, fans) : []),
    ...targets.flatMap(({ name }, at) => [...(targets.length > 1 ? [`### ${name}\n`] : []), ...details(rows, at)]),
    ...fans.map((fan, at) => `Watch, ${targets[at].name}: ${fanOutText(fan)}.\n`),
    ...starts.map(
      ({ name, firstMs, secondMs, idleMB, endMB }) =>
        `${name}: ready ${firstMs} ms after a first start, ${secondMs} ms after a second. Resident ${idleMB} MB idle, ${endMB} MB after the loads.\n`,
    ),
    ...(grown ? [`With ${grown.pods} pods: ${JSON.stringify(grown)}\n`] : []),
  ].join('\n');
}

/** Processor time of one request in each server, its store included, and the ratio of each to the last one. */
function together(targets, rows, fans) {
  const last = targets.at(-1);
  const others = targets.slice(0, -1);
  const line = (name, micros, bare) => row([name, ...micros, ...micros.slice(0, -1).map((one) => ratio(one, micros.at(-1))), bare]);
  return [
    'Processor time of one request in µs, in all processes of the server and its store:\n',
    ...head(['load', ...targets.map(({ name }) => name), ...others.map(({ name }) => `${name} to ${last.name}`), 'bare']),
    ...rows.map(({ name, targets: figures, bare }) =>
      line(
        name,
        figures.map(({ cpu }) => cpu.all),
        range(bare.micros),
      ),
    ),
    ...(fans.length === 0
      ? []
      : [
          line(
            'one watch delivery',
            fans.map(({ allMicros }) => allMicros),
            '',
          ),
        ]),
    '',
  ];
}

function details(rows, at) {
  return [
    ...head(['load', 'per second', 'p50 ms', 'p99 ms', 'failed', 'CPU µs', 'of which main threads', 'of bare']),
    ...rows.map(({ name, targets }) => {
      const { rate, p50, p99, failed, cpu, ratio } = targets[at];
      return row([name, rate, p50, p99, failed, cpu.all, cpu.main, ratio]);
    }),
    '',
  ];
}

const ratio = (one, other) => (one / other).toFixed(2);
