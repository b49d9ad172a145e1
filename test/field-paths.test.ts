/** Clients and people look up fields by the paths in causes of errors: a blank in one is a field that nobody has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));
/** Two fields together, as stock servers write it. */
const pairs = ['{topologyKey, whenUnsatisfiable}'];

/** The names in the calls that make field paths. */
function namesIn(text: string): string[] {
  const calls = text.matchAll(/(?:\.child|Path\.of)\(([^()]*)\)/g);
  return [...calls].flatMap(([, args = '']) => [...args.matchAll(/'([^']*)'/g)].map(([, name = '']) => name));
}

test('no name in a field path has a blank', () => {
  expect(namesIn(`at.child('secretRef ').child('name'); Path.of('spec', 'a b')`)).toEqual(['secretRef ', 'name', 'spec', 'a b']);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const found = files.flatMap((file) =>
    namesIn(readFileSync(join(src, file), 'utf8'))
      .filter((name) => /\s/.test(name) && !pairs.includes(name))
      .map((name) => `${file}: ${JSON.stringify(name)}`),
  );
  expect(found).toEqual([]);
});
