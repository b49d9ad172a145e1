// Loaded into a process before anything else: ends it, as a crash would, before the given call that changes names in a directory.
// STOP_IN names the directory, STOP_AT the call (from 1), STOP_COUNT a file that gets the number of calls at a regular end.
const fs = require('node:fs');
const path = require('node:path');
const { syncBuiltinESMExports } = require('node:module');

const { STOP_IN, STOP_AT, STOP_COUNT } = process.env;
const { writeFileSync } = fs;
let calls = 0;
/** Files of the directory itself and of directories with old files; stores in the making are nobody's yet. */
const counts = (file) => {
  if (typeof file !== 'string') return false;
  const [first = '..', ...rest] = path.relative(STOP_IN, file).split(path.sep);
  return first !== '..' && !(rest.length > 0 && /^store\.(restoring|repairing|dry-run)-/.test(first));
};
const changes = (name, args) => {
  if (name === 'openSync') return counts(args[0]) && /[wa+]/.test(String(args[1] ?? 'r'));
  return counts(args[0]) || (name === 'renameSync' && counts(args[1]));
};
for (const name of ['openSync', 'renameSync', 'rmSync', 'unlinkSync', 'mkdirSync', 'cpSync', 'copyFileSync', 'writeFileSync']) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (changes(name, args) && ++calls === Number(STOP_AT)) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
}
syncBuiltinESMExports();
if (STOP_COUNT !== undefined) process.on('exit', () => writeFileSync(STOP_COUNT, String(calls)));
