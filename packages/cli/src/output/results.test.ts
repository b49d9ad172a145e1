import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { type ResultOptions, Results } from './results.ts';

const ref = (name: string) => ({ name, resource: { group: 'apps', kind: 'Deployment' } as never });
const object = (name: string) => ({ kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name, managedFields: [{ manager: 'm' }] } });

async function printed(options: Partial<ResultOptions>, asList = false, changes: Parameters<typeof testIO>[0] = {}): Promise<string> {
  const io = testIO(changes);
  const results = new Results(io, { output: '', showManagedFields: false, dryRun: 'none', ...options }, { asList });
  for (const name of ['a', 'b']) results.done(ref(name), 'created', object(name));
  expect(await results.end()).toBe(0);
  return io.stdout;
}

test('a message for each object, with the kind of a dry run', async () => {
  expect(await printed({})).toBe('deployment.apps/a created\ndeployment.apps/b created\n');
  expect(await printed({ dryRun: 'client' })).toContain('deployment.apps/a created (dry run)\n');
  expect(await printed({ dryRun: 'server' })).toContain('deployment.apps/a created (server dry run)\n');
});

test('objects one after another, or as a list', async () => {
  expect(await printed({ output: 'name' })).toBe('deployment.apps/a\ndeployment.apps/b\n');
  const one = (name: string): string => `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\n`;
  expect(await printed({ output: 'yaml' })).toBe(`${one('a')}---\n${one('b')}`);
  expect(await printed({ output: 'yaml', showManagedFields: true })).toContain('managedFields:\n  - manager: m\n');
  expect(JSON.parse(await printed({ output: 'json' }, true))).toMatchObject({ kind: 'List', metadata: {}, items: [{}, {}] });
});

test('every template', async () => {
  const directory = temporaryDirectory('plat-results');
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return name;
  };
  const at = (options: Partial<ResultOptions>): Promise<string> => printed(options, false, { cwd: directory });
  expect(await at({ output: 'go-template={{.metadata.name}};' })).toBe('a;b;');
  expect(await at({ output: 'template={{.kind}};' })).toBe('Deployment;Deployment;');
  expect(await at({ output: '', template: '{{.metadata.name}};' })).toBe('a;b;');
  expect(await at({ output: `go-template-file=${file('t', '{{.kind}} ')}` })).toBe('Deployment Deployment ');
  expect(await at({ output: 'templatefile', template: 't' })).toBe('Deployment Deployment ');
  expect(await at({ output: 'jsonpath={.metadata.managedFields[*].manager}' })).toBe('mm');
  expect(await at({ output: `jsonpath-file=${file('p', '{.metadata.name}')}` })).toBe('ab');
  expect(await at({ output: 'jsonpath-as-json={.kind}' })).toBe('[\n    "Deployment"\n]\n'.repeat(2));
  expect(await at({ output: 'custom-columns=N:.metadata.name,K:kind' })).toBe('N     K\na     Deployment\nb     Deployment\n');
  expect(await at({ output: `custom-columns-file=${file('c', 'N   K\n{.metadata.name} kind\n')}` })).toBe(
    'N     K\na     Deployment\nb     Deployment\n',
  );
});

test('a template that cannot be used is refused before anything is changed', () => {
  const make = (options: Partial<ResultOptions>) => () =>
    new Results(testIO(), { output: '', showManagedFields: false, dryRun: 'none', ...options });
  expect(make({ template: '{{.x' })).toThrow('go-template: line 1: an action is not closed');
  expect(make({ output: 'go-template' })).toThrow('-o go-template needs a template: -o go-template=TEMPLATE, or --template');
  expect(make({ output: 'jsonpath-file=/nonexistent/x' })).toThrow('the template /nonexistent/x cannot be read');
});

test('an error of a template fails the command', async () => {
  const results = new Results(testIO(), {
    output: 'jsonpath={.x}',
    allowMissingTemplateKeys: false,
    showManagedFields: false,
    dryRun: 'none',
  });
  results.done(ref('a'), 'created', object('a'));
  await expect(results.end()).rejects.toThrow('jsonpath: x is not found');
});

test('bytes of a decoded secret are written as they are', async () => {
  const written: Buffer[] = [];
  const { terminal } = testIO();
  const io = testIO({ terminal: { ...terminal, write: (bytes) => void written.push(bytes) } });
  const results = new Results(io, { output: 'go-template={{base64decode .metadata.name}}', showManagedFields: false, dryRun: 'none' });
  results.done(ref('gIE='), 'created', object('gIE='));
  await results.end();
  expect(Buffer.concat(written)).toEqual(Buffer.from([0x80, 0x81]));
});
