// Loaded into a process before anything else: looks at the calls that change names in a directory.
// STOP_IN names the directory, STOP_AT the call (from 1) before which the process is ended as by a crash, STOP_COUNT a file that gets
// the number of calls at a regular end. STOP_COPIES names a directory that gets a copy of the files as they are before each call,
// which is what a crash there leaves: at-1, at-2 and so on.
const fs = require('node:fs');
const path = require('node:path');
const { syncBuiltinESMExports } = require('node:module');

const { STOP_IN, STOP_AT, STOP_COUNT, STOP_COPIES } = process.env;
const { cpSync, lstatSync, writeFileSync } = fs;
let calls = 0;
let isCopying = false;
/** Files of the directory itself and of directories with old files; stores in the making are nobody's yet. */
const counts = (file) => {
  if (typeof file !== 'string') return false;
  const [first = '..', ...rest] = path.relative(STOP_IN, file).split(path.sep);
  return first !== '..' && !(rest.length > 0 && /^store\.(restoring|repairing|dry-run)-/.test(first));
};
const changes = (name, args) => {
  if (isCopying) return false;
  if (name === 'openSync') return counts(args[0]) && /[wa+]/.test(String(args[1] ?? 'r'));
  return counts(args[0]) || (name === 'renameSync' && counts(args[1]));
};
/** The socket by which the directory is locked cannot be copied. */
const copy = (to) => {
  isCopying = true;
  cpSync(STOP_IN, to, { recursive: true, filter: (file) => !lstatSync(file).isSocket() });
  isCopying = false;
};
for (const name of ['openSync', 'renameSync', 'rmSync', 'unlinkSync', 'mkdirSync', 'cpSync', 'copyFileSync', 'writeFileSync']) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (changes(name, args)) {
      calls++;
      if (STOP_COPIES !== undefined) copy(path.join(STOP_COPIES, `at-${calls}`));
      if (calls === Number(STOP_AT)) process.kill(process.pid, 'SIGKILL');
    }
    return original(...args);
  };
}
syncBuiltinESMExports();
if (STOP_COUNT !== undefined) process.on('exit', () => writeFileSync(STOP_COUNT, String(calls)));
