/** The tables of docs/ARCHITECTURE.md are those of the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const page = readFileSync(new URL('docs/ARCHITECTURE.md', root), 'utf8');
const bounds = [...page.matchAll(/^\| [^|]+ \| ([\d,.]+)( [KM]iB)? \| `(\w+)` in `([\w./-]+)` \|/gm)];

/** `3 * 1024 * 1024`, `16 * 2 ** 20`, `2_000` */
const evaluated = (text: string): number =>
  text
    .replaceAll('_', '')
    .split(/(?<!\*) \* /)
    .map((factor) => factor.split(' ** ').map(Number))
    .reduce((product, [base = Number.NaN, power = 1]) => product * base ** power, 1);

test('the bounds of the page are those of the code', () => {
  expect(bounds.length).toBeGreaterThan(15);
  for (const [row, number = '', unit = '', constant = '', file = ''] of bounds) {
    const source = readFileSync(new URL(file, root), 'utf8');
    const declared = new RegExp(`const ${constant}(?:: number)? = ([\\d_* ]+);`).exec(source)?.[1];
    const factor = { '': 1, ' KiB': 1024, ' MiB': 1024 * 1024 }[unit];
    expect(evaluated(declared ?? 'none'), row).toBe(Number(number.replaceAll(',', '')) * (factor ?? Number.NaN));
  }
});

test('the table of packages has every package, with what its package.json depends on', () => {
  const packages = readdirSync(new URL('packages', root));
  const rows = new Map(
    [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([a-z, -]*)\|$/gm)].map(([, name = '', list = '']) => [name, list.trim()]),
  );
  expect([...rows.keys()].sort()).toEqual(packages.sort());
  for (const name of packages) {
    const manifest = JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, root), 'utf8')) as { dependencies?: object };
    const own = Object.keys(manifest.dependencies ?? {}).filter((dependency) => dependency.startsWith('@plat-dev/'));
    expect(
      rows
        .get(name)
        ?.split(', ')
        .filter((word) => word !== '')
        .sort(),
      name,
    ).toEqual(own.map((dependency) => dependency.slice('@plat-dev/'.length)).sort());
  }
});
