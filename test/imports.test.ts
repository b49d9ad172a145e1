/** What packages may import (scripts/imports.mjs, part of `npm run check`), and what a start loads. */
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { circlesOf, faultsOf, importsOf } from '../scripts/imports.mjs';
import { sourceOf } from '../scripts/workspaces.mjs';
import { readSource } from './support/sources.ts';

const manifest = { dependencies: { '@plat-dev/lib': '0.1.0', ws: '8' }, devDependencies: { '@plat-dev/kinds': '0.1.0', vitest: '4' } };
const faults = (file: string, ...names: string[]): string[] => faultsOf(`packages/meta/src/${file}`, names, manifest);

test('imports are found: of values, of types, dynamic ones and those that are handed on', () => {
  const text = [
    "import './first.ts';",
    "import type { A } from '@plat-dev/lib/clock';",
    'import {\n  b,\n} from "./b.ts";',
    "export * from './c.ts';",
    "// import './no.ts';",
    "type D = import('./d.ts').D;",
    "const e = () => import('./e.ts');",
  ].join('\n');
  expect(importsOf(text)).toEqual(['./first.ts', '@plat-dev/lib/clock', './b.ts', './c.ts', './d.ts', './e.ts']);
});

test('a package imports what it depends on, and its own files by their path', () => {
  expect(faults('names.ts', 'node:fs', 'ws', '@plat-dev/lib/clock', './errors.ts')).toEqual([]);
  expect(faults('names.ts', 'undici')).toEqual(['packages/meta/src/names.ts imports undici, on which its package does not depend']);
  expect(faults('names.ts', '@plat-dev/kinds/kind')).toEqual([
    'packages/meta/src/names.ts imports @plat-dev/kinds/kind, on which its package does not depend',
  ]);
  expect(faults('names.ts', '../../lib/src/clock.ts')).toEqual([
    'packages/meta/src/names.ts imports ../../lib/src/clock.ts, which is not of its package',
  ]);
  expect(faults('names.ts', '@plat-dev/lib/nowhere')).toEqual([
    'packages/meta/src/names.ts imports @plat-dev/lib/nowhere, which is not exported',
  ]);
});

test('tests may use more, and stay out of the product', () => {
  expect(faults('names.test.ts', 'vitest', '@plat-dev/kinds/kind', '../../../test/support/sources.ts', './names.testing.ts')).toEqual([]);
  expect(faults('names.ts', 'vitest', './names.testing.ts', '../../../test/support/sources.ts')).toHaveLength(3);
  expect(faults('names.ts', '@plat-dev/lib/testing/temporary.testing')).toEqual([
    'packages/meta/src/names.ts imports @plat-dev/lib/testing/temporary.testing, which is for tests',
  ]);
});

test('circles are found, of two and of more', () => {
  const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));
  expect(circlesOf(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toEqual([]);
  expect(circlesOf(graph({ a: ['b'], b: ['a', 'c'], c: ['d'], d: ['e'], e: ['c'] }))).toEqual([
    ['c', 'd', 'e'],
    ['a', 'b'],
  ]);
});

/** Modules that run as soon as a file does, also through others: what is imported statically, and not for its types alone. */
function startedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readSource(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  for (const [, name = ''] of text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s*)?'((?:\.|@plat-dev\/)[^']+)'/gm)) {
    const next = name.startsWith('.') ? posix.join(posix.dirname(file), name) : sourceOf(name)?.replace(/^packages\/([^/]+)\/src/, '$1');
    startedWith(next as string, found);
  }
  return found;
}

test('the evaluator of rules is not loaded before a definition has rules', () => {
  const started = startedWith('compose/index.ts');
  expect(started).toContain('kinds/apiextensions/cel/load-evaluation.ts');
  expect([...started].filter((file) => file.startsWith('cel/') && !file.startsWith('cel/pattern/'))).toEqual([]);
  expect(startedWith('kinds/apiextensions/cel/evaluation.ts')).toContain('cel/plan.ts');
});
