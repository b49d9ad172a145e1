// The figures of bench/RESULTS.md on a quiet machine, with one command: node bench/quiet.mjs [--busy] [options of npm run bench].
// Runs plat on lmdb and on etcd in turn, and with --against URL,PID[,PID] another server too; then one, two and three servers on one
// etcd. Adds both to bench/RESULTS.md. Takes about ten minutes, and refuses a machine that is in use; --busy measures all the same.
import { execFileSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

const QUIET_BELOW = 0.7;
const options = process.argv.slice(2).filter((option) => option !== '--busy');
if (loadavg()[0] >= QUIET_BELOW && !process.argv.includes('--busy')) {
  console.error(`the machine is in use (load average ${loadavg()[0].toFixed(1)}): wait, or give --busy`);
  process.exit(1);
}
const run = (script, args) =>
  execFileSync(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], { stdio: 'inherit' });
try {
  // Options that are given later replace these.
  run('run.mjs', ['--stores', 'lmdb,etcd', '--seconds', '3', '--rounds', '3', '--write', ...options]);
  run('servers.mjs', ['--no-build', '--seconds', '2', '--write']);
} catch (error) {
  process.exit(error.status ?? 1);
}
