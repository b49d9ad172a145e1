import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * Imports go one way. A layer may use itself and those that are named behind it.
 * Whoever changes this table changes the architecture: docs/ARCHITECTURE.md must follow.
 */
const below = {
  lib: [],
  schema: ['lib'],
  meta: ['lib', 'schema'],
  kinds: ['lib', 'schema', 'meta'],
  patch: ['lib', 'schema', 'meta', 'kinds'],
  storage: ['lib', 'schema', 'meta', 'kinds'],
  auth: ['lib', 'schema', 'meta', 'kinds'],
  admission: ['lib', 'schema', 'meta', 'kinds', 'patch', 'auth'],
  registry: ['lib', 'schema', 'meta', 'kinds', 'patch', 'storage', 'auth', 'admission'],
  extension: ['lib', 'schema', 'meta', 'kinds', 'patch', 'storage', 'auth', 'admission', 'registry'],
  server: ['lib', 'schema', 'meta', 'kinds', 'patch', 'storage', 'auth', 'admission', 'registry', 'extension'],
  client: ['lib', 'schema', 'meta', 'kinds'],
  controllers: ['lib', 'schema', 'meta', 'kinds', 'client'],
  cli: ['lib', 'schema', 'meta', 'kinds', 'patch', 'client', 'controllers', 'config', 'compose'],
  config: ['lib', 'meta', 'admission'],
} as const satisfies Record<string, readonly string[]>;
/** They put the others together, and may know every one. */
const roots: readonly string[] = ['index.ts', 'compose', 'testing'];

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const layerOf = (file: string): string => file.split('/')[0] as string;
const isTest = (file: string): boolean => /\.(test|testing)\.ts$|\.suite(\.\w+)*\.ts$|\/testing\.ts$/.test(file);

/** Relative imports of a file, static, dynamic and of types alike, as paths under src. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])(\.[^'"]+)\1/g);
  return [...found].map((match) => relative(src, resolve(src, dirname(file), match[2] as string)));
}

test('every folder has its place in the table', () => {
  const known = new Set<string>([...Object.keys(below), ...roots]);
  const unknown = new Set(files.filter((file) => !isTest(file)).map(layerOf));
  for (const name of known) unknown.delete(name);
  expect([...unknown]).toEqual([]);
});

test('the table has no circle', () => {
  const table: Record<string, readonly string[]> = below;
  const visit = (layer: string, above: readonly string[]): void => {
    expect(above, `${[...above, layer].join(' → ')}`).not.toContain(layer);
    for (const next of table[layer] ?? []) visit(next, [...above, layer]);
  };
  for (const layer of Object.keys(table)) visit(layer, []);
});

test('imports are found', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(importsOf('meta/quantity.ts')).toEqual(['lib/quantity.ts']);
  expect(importsOf('cli/server.ts')).toContain('compose/server.ts');
  expect(importsOf('cli/index.ts')).toContain('cli/get/get.ts');
});

test('every import goes down', () => {
  const table: Record<string, readonly string[]> = below;
  const wrong: string[] = [];
  for (const file of files) {
    const layer = layerOf(file);
    if (roots.includes(layer) || isTest(file)) continue;
    for (const target of importsOf(file)) {
      const to = layerOf(target);
      if (to === layer || table[layer]?.includes(to)) continue;
      wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('tests stay out of the product', () => {
  const wrong = files
    .filter((file) => !isTest(file))
    .flatMap((file) =>
      importsOf(file)
        .filter(isTest)
        .map((target) => `${file} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

/** Modules that run as soon as a file does, also through others: what is imported statically, and not for its types alone. */
function startedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  for (const match of text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s*)?'(\.[^']+)'/gm))
    startedWith(relative(src, resolve(src, dirname(file), match[1] as string)), found);
  return found;
}

test('the evaluator of rules is not loaded before a definition has rules', () => {
  const started = startedWith('index.ts');
  expect(started).toContain('kinds/apiextensions/cel/loaded.ts');
  expect([...started].filter((file) => file.startsWith('lib/cel/'))).toEqual([]);
  expect(startedWith('kinds/apiextensions/cel/evaluation.ts')).toContain('lib/cel/plan.ts');
});
