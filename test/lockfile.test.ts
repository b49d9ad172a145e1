import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Package>>;
};

test('the lockfile names no registry', () => {
  const named = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined);
  expect(named.map(([path]) => path)).toEqual([]);
});

// `npm ci` refuses a lockfile that lacks one of them, and `npm install` leaves out those that its registry does not have.
test('the lockfile has an entry for every package of other platforms', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter((name) => !isFound(path, name)),
  );
  expect(missing).toEqual([]);
});

/** Looks where Node would look: beside the package, then beside each package around it. */
function isFound(path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in lock.packages) return true;
    if (at === '') return false;
  }
}
