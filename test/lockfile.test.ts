import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  readonly resolved?: string;
  /** Whether it is a package of this repository. */
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type Packages = Readonly<Record<string, Package>>;
const lockfiles = ['package-lock.json', 'test/programs/package-lock.json'];
const packagesOf = (lockfile: string): Packages =>
  (JSON.parse(readFileSync(new URL(`../${lockfile}`, import.meta.url), 'utf8')) as { readonly packages: Packages }).packages;

test.each(lockfiles)('%s names no registry', (lockfile) => {
  const named = Object.entries(packagesOf(lockfile)).filter(([, { resolved, link }]) => resolved !== undefined && link !== true);
  expect(named.map(([path]) => path)).toEqual([]);
});

// `npm ci` refuses a lockfile that lacks one of them, and `npm install` leaves out those that its registry does not have.
test.each(lockfiles)('%s has an entry for every package of other platforms', (lockfile) => {
  const packages = packagesOf(lockfile);
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter((name) => !isFound(packages, path, name)),
  );
  expect(missing).toEqual([]);
});

/** Looks where Node would look: beside the package, then beside each package around it. */
function isFound(packages: Packages, path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in packages) return true;
    if (at === '') return false;
  }
}
