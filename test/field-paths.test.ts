/** Clients and people look up fields by the paths in causes of errors: a blank in one is a field that nobody has. */
import { expect, test } from 'vitest';
import { readSource, sourceFiles } from './support/sources.ts';

/** Two fields together, as stock servers write it. */
const pairs = ['{topologyKey, whenUnsatisfiable}'];

/** The names in the calls that make field paths. */
function namesIn(text: string): string[] {
  const calls = text.matchAll(/(?:\.child|Path\.of)\(([^()]*)\)/g);
  return [...calls].flatMap(([, args = '']) => [...args.matchAll(/'([^']*)'/g)].map(([, name = '']) => name));
}

test('no name in a field path has a blank', () => {
  expect(namesIn(`at.child('secretRef ').child('name'); Path.of('spec', 'a b')`)).toEqual(['secretRef ', 'name', 'spec', 'a b']);
  const found = sourceFiles.flatMap((file) =>
    namesIn(readSource(file))
      .filter((name) => /\s/.test(name) && !pairs.includes(name))
      .map((name) => `${file}: ${JSON.stringify(name)}`),
  );
  expect(found).toEqual([]);
});
