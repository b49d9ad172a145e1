import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/programs.md');

test('docs/programs.md names the versions of the programs that run', () => {
  const { dependencies } = JSON.parse(read('test/programs/package.json')) as { readonly dependencies: Readonly<Record<string, string>> };
  // What others of them need, and is no program by itself.
  const { constructs, tsx, 'cdk8s-plus-33': _plus, ...programs } = dependencies;
  for (const version of Object.values(programs)) expect(page).toContain(version);
});

test('a section for each program, which its users find by its name', () => {
  const sections = page.split('\n').flatMap((line) => (line.startsWith('## ') ? [line.slice(3)] : []));
  const names = 'Helm, Argo CD, Flux, Tekton, OLM, Prometheus, Ansible, Terraform, Pulumi, Operators in Go, Operators in TypeScript';
  const others = 'Pepr, cdk8s, kubectl and its plug-ins, Client libraries';
  expect(sections).toEqual(['What holds for all of them', ...`${names}, ${others}`.split(', ')]);
});
