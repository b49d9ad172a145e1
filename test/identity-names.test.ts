import { expect, test } from 'vitest';
import { type Identity, kubernetes, plat } from '../packages/meta/src/identity.ts';
import { productFiles, readSource } from './support/sources.ts';

/** A server goes by the names of one identity; a name spelled anywhere else would be wrong for the other. */
const sources = productFiles.filter((file) => file !== 'meta/identity.ts');

/** Names that belong to one identity alone. The bare words `plat` and `kubernetes` are words of the language, too. */
function namesOf(identity: Identity): string[] {
  const { groupSuffix, domain, namespaces, rootCAConfigMap, protobufMediaType, execInfoVariable } = identity;
  return [groupSuffix, domain, ...Object.values(namespaces), rootCAConfigMap, protobufMediaType, execInfoVariable, `x-${identity.word}-`];
}
const names = [...new Set([...namesOf(plat), ...namesOf(kubernetes)])];

/** Code without its comments: those may speak of names. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

test('the search finds what it looks for', () => {
  expect(names).toContain('k8s.io');
  expect(names).toContain('plat.dev');
  expect(names).toContain('kube-system');
  expect(codeOf(`a('k8s.io'); // k8s.io\n/* k8s.io */ b('https://x')`)).toBe(`a('k8s.io'); \n             b('https://x')`);
});

test('no identity name is spelled outside of meta/identity.ts', () => {
  const found: string[] = [];
  for (const file of sources) {
    const lines = codeOf(readSource(file)).split('\n');
    lines.forEach((line, i) => {
      for (const name of names) if (line.includes(name)) found.push(`${file}:${i + 1} spells ${name}`);
    });
  }
  expect(found).toEqual([]);
});
