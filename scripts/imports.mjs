// What packages enforce of each other: a file imports what its package depends on, by its name; what belongs to the same package, by
// its path; and never in a circle, types included.
//
//   node scripts/imports.mjs      the exit code is 1 when it finds something
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packages, sourceOf } from './workspaces.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isTest = (file) => /\.(test|testing)\.ts$|\.suite(\.\w+)*\.ts$|\/testing\.ts$/.test(file);
const packageOf = (file) => /^packages\/([^/]+)\/src\//.exec(file)?.[1];

/** What each file of the packages imports: names as they are written, statically, dynamically and for types alike. */
export function importsOf(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const names = code.matchAll(/(?:^(?:import|export)\b[^'";]*?\bfrom\s*|^import\s+|\bimport\s*\(\s*)(['"])([^'"\n]+)\1/gm);
  return [...new Set([...names].map((match) => match[2]))];
}

/** Modules that a runner of tests loads, which is there then; and those of the page, whose dependencies are part of its bundle. */
const usesTools = (file) => file.startsWith('packages/testing/src/runners/') || file.startsWith('packages/console/src/');

/** Whether a file may import a package; tests may use what is there for them alone. */
function mayImport(file, { dependencies, devDependencies }, name) {
  const lists = isTest(file) || usesTools(file) ? [dependencies, devDependencies] : [dependencies];
  return lists.some((list) => list !== undefined && Object.hasOwn(list, name));
}

/** What is wrong with the imports of one file, given the package.json of its package. */
export function faultsOf(file, names, manifest) {
  return names.flatMap((name) => {
    if (name.startsWith('node:')) return [];
    if (name.startsWith('.')) {
      const target = posix.join(posix.dirname(file), name);
      if (isTest(target) && !isTest(file)) return [`${file} imports ${name}, which is for tests`];
      if (packageOf(target) === packageOf(file) || (isTest(file) && packageOf(target) === undefined)) return [];
      return [`${file} imports ${name}, which is not of its package`];
    }
    const dependency = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
    if (!mayImport(file, manifest, dependency)) return [`${file} imports ${name}, on which its package does not depend`];
    if (!name.startsWith('@plat-dev/')) return [];
    const target = sourceOf(name);
    if (target === undefined) return [`${file} imports ${name}, which is not exported`];
    return isTest(target) && !isTest(file) ? [`${file} imports ${name}, which is for tests`] : [];
  });
}

/** The circles of a graph: for each set of nodes that reach each other, its nodes. */
export function circlesOf(graph) {
  const order = new Map();
  const lowest = new Map();
  const open = [];
  const circles = [];
  const visit = (node) => {
    order.set(node, order.size);
    lowest.set(node, order.get(node));
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const members = open.splice(open.indexOf(node));
    if (members.length > 1) circles.push(members.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

/** Dependencies that no file uses. */
function needless(name, manifest, used) {
  return Object.keys(manifest.dependencies ?? {})
    .filter((dependency) => !used.has(dependency))
    .map((dependency) => `packages/${name}/package.json depends on ${dependency}, which nothing there imports`);
}

function check() {
  const faults = [];
  const graph = new Map();
  for (const [name, manifest] of packages) {
    const used = new Set();
    for (const path of readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(path)) continue;
      const file = `packages/${name}/src/${path.replaceAll('\\', '/')}`;
      const names = importsOf(readFileSync(join(root, file), 'utf8'));
      faults.push(...faultsOf(file, names, manifest));
      for (const one of names) if (!isTest(file)) used.add(one.split('/', one.startsWith('@') ? 2 : 1).join('/'));
      graph.set(
        file,
        names.filter((one) => one.startsWith('.')).map((one) => posix.join(posix.dirname(file), one)),
      );
    }
    faults.push(...needless(name, manifest, used));
  }
  const own = new Map([...packages].map(([name, { dependencies = {} }]) => [`@plat-dev/${name}`, Object.keys(dependencies)]));
  const circles = [...circlesOf(own), ...circlesOf(graph)];
  faults.push(...circles.map((circle) => `imports in a circle: ${circle.join(', ')}`));
  return faults;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = check();
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
