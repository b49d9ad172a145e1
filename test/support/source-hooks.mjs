/** Modules of src and test keep their addresses, and are read where they lie compiled. */
import { readFileSync } from 'node:fs';

let root = '';
let folders = [];
let compiled = '';
const isCompiled = (url) => url.endsWith('.ts') && folders.some((folder) => url.startsWith(folder));

export function initialize(data) {
  root = data.root;
  folders = ['src/', 'test/'].map((folder) => root + folder);
  compiled = data.compiled;
}

export function resolve(specifier, context, next) {
  if (!specifier.startsWith('.') || context.parentURL === undefined || !isCompiled(context.parentURL)) return next(specifier, context);
  return { url: new URL(specifier, context.parentURL).href, shortCircuit: true };
}

export function load(url, context, next) {
  if (!isCompiled(url)) return next(url, context);
  const file = new URL(`${compiled}${url.slice(root.length, -'.ts'.length)}.js`);
  return { format: 'module', source: readFileSync(file), shortCircuit: true };
}
