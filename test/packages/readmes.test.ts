/** The README of each package: its example is `example.ts` beside it, which is run here, and what it names is true. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledPackages, packages } from '../../scripts/workspaces.mjs';

const folder = join(import.meta.dirname, '../../packages');
/** Beside the dependencies, so that programs find them. */
const programs = join(import.meta.dirname, '../../node_modules/.cache', `plat-readmes-${process.pid}`);
const ownName = '@plat-dev/';

/** The first block of a language. */
const block = (page: string, language: string): string | undefined =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1];
/** `Depends on: a, b.` */
const listed = (page: string, title: string): string[] => {
  const [, names = ''] = new RegExp(`^${title}: (.+)\\.$`, 'm').exec(page) ?? [];
  return names === 'nothing' ? [] : names.split(', ').map((name) => name.replace(/`/g, ''));
};
const short = (names: Iterable<string>): string[] => [...names].map((name) => name.replace(ownName, '')).sort();

beforeAll(() =>
  build({
    entryPoints: [...packages.keys()].map((name) => ({ in: join(folder, name, 'example.ts'), out: name })),
    outdir: programs,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [bundledPackages],
    logLevel: 'error',
  }),
);
afterAll(() => rmSync(programs, { recursive: true }));

describe.each([...packages])('packages/%s', (name, manifest) => {
  const page = readFileSync(join(folder, name, 'README.md'), 'utf8');

  test('the example of its README prints what stands there', async () => {
    expect(block(page, 'ts')).toBe(readFileSync(join(folder, name, 'example.ts'), 'utf8'));
    expect(block(page, 'ts')).toContain(`'${ownName}${name}`);
    const { stdout } = await promisify(execFile)(process.execPath, [join(programs, `${name}.mjs`)]);
    expect(stdout).toBe(block(page, 'text'));
  });

  test('its README names what it depends on, and who uses it', () => {
    const users = [...packages].filter(([, { dependencies = {} }]) => Object.hasOwn(dependencies, `${ownName}${name}`));
    expect(listed(page, 'Depends on')).toEqual(short(Object.keys(manifest.dependencies ?? {})));
    expect(listed(page, 'Used by')).toEqual(short(users.map(([user]) => user)));
  });
});
