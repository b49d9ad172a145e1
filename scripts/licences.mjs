/**
 * Checks the licences of all packages of the lockfiles. `npm run licences` lists how many have which, and fails where one is not
 * allowed or not known. What npm does not see, such as sources that a package carries along, stands in docs/dependencies.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** They ask for a notice at most: for packages that plat brings along. */
export const permissive = new Set(
  'MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD BlueOak-1.0.0 Unlicense CC0-1.0 Zlib Python-2.0 PSF-2.0'.split(' '),
);
/** Also for packages that only this repository uses: they ask for something of those who change or pass on their files. */
export const forTools = new Set([...permissive, 'MPL-2.0', 'CC-BY-4.0']);

/** `(MIT OR GPL-2.0)` is allowed where one side is, `MIT AND Zlib` where both are. */
export function isAllowed(expression, allowed) {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  const next = (token) => tokens[0] === token && tokens.shift() !== undefined;
  const oneOf = () => {
    let result = allOf();
    while (next('OR')) result = allOf() || result;
    return result;
  };
  const allOf = () => {
    let result = single();
    while (next('AND')) result = single() && result;
    return result;
  };
  const single = () => (next('(') ? [oneOf(), next(')')].every(Boolean) : allowed.has(tokens.shift()));
  return oneOf() && tokens.length === 0;
}

/**
 * The packages of a lockfile that are not of this repository, with their licences. `installed` returns the package.json of a package, or undefined where it is not
 * installed. A package of another platform is not, and its registry may not have told its licence: it has that of the package that
 * chooses between platforms.
 */
export function licencesOf({ packages }, installed) {
  const written = (path, entry) => nameOf(installed(path)?.license) ?? nameOf(entry.license);
  return Object.entries(packages)
    .filter(([path]) => path.includes('node_modules/') && !path.includes('node_modules/@plat-dev/'))
    .map(([path, entry]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const chooser = () => Object.entries(packages).find(([, other]) => name in (other.optionalDependencies ?? {}));
      const licence = written(path, entry) ?? (entry.optional && chooser() ? written(...chooser()) : undefined);
      return { name, version: entry.version, licence, isTool: entry.dev === true || entry.devOptional === true };
    });
}
/** Old packages have an object. */
const nameOf = (license) => (typeof license === 'object' ? license.type : license);

export function offences(found) {
  return found
    .filter(({ licence, isTool }) => licence === undefined || !isAllowed(licence, isTool ? forTools : permissive))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence is known'}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);
  const own = licencesOf(read(join(root, 'package-lock.json')), (path) => read(join(root, path, 'package.json')));
  const programs = licencesOf(read(join(root, 'test/programs/package-lock.json')), () => undefined);
  const all = [...own, ...programs.map((one) => ({ ...one, isTool: true }))];
  for (const isTool of [false, true]) {
    const counts = new Map();
    for (const one of all.filter((each) => each.isTool === isTool)) counts.set(one.licence, (counts.get(one.licence) ?? 0) + 1);
    const shown = [...counts].sort(([, a], [, b]) => b - a).map(([licence, count]) => `${licence} ${count}`);
    console.log(`licences ${isTool ? 'for development' : 'at run time'}: ${shown.join(', ')}`);
  }
  const wrong = offences(all);
  for (const line of wrong) console.error(`licence not allowed: ${line}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
