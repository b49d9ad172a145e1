/**
 * The first module of the executable. It runs the scripts of the program, which are assets of the executable, by the names that they
 * have for each other, and no other code: nothing is looked up in the file system, where somebody else may have put it.
 *
 *   plat get pods          plat.js
 *   kubectl get pods       plat.js, which looks at the name, too
 *   kube-apiserver …       plat.js with the command of `plat envtest`
 *   etcd …                 etcd.cjs
 */
import nodeModule from 'node:module';
import { basename, dirname, posix, sep } from 'node:path';
import { getAsset } from 'node:sea';
import { compileFunction } from 'node:vm';
import { ETCD_ARGUMENT } from '../own-program.ts';

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
type Script = (...values: readonly unknown[]) => void;

const exportsByScript = new Map<string, object>();

function load(script: string): object {
  const existing = exportsByScript.get(script);
  if (existing !== undefined) return existing;
  const module = { exports: {} };
  exportsByScript.set(script, module.exports);
  const file = `${dirname(process.execPath)}${sep}${script}`;
  const run = compileFunction(getAsset(script, 'utf8'), parameters, { filename: script }) as Script;
  const require = (name: string): unknown => (name.startsWith('.') ? load(posix.join(posix.dirname(script), name)) : builtIn(name));
  run(module.exports, require, module, file, dirname(file));
  return module.exports;
}

/** Dependencies ask for more by `createRequire`: for parts that they can do without. */
const moduleWithoutFiles = { ...nodeModule, createRequire: () => builtIn };

function builtIn(name: string): unknown {
  const module = name === 'node:module' || name === 'module' ? moduleWithoutFiles : process.getBuiltinModule(name);
  if (module === undefined) throw new Error(`${name} is not part of this executable`);
  return module;
}

const calledAs = basename(process.argv[1] ?? '').replace(/\.exe$/i, '');
if (calledAs === 'kube-apiserver') process.argv.splice(2, 0, '__kube-apiserver');
if (calledAs === 'etcd') load('etcd.cjs');
else if (process.argv[2] === ETCD_ARGUMENT) {
  process.argv.splice(2, 1);
  load('etcd.cjs');
} else load('plat.js');
