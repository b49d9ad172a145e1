/** The objects under `examples/`, one of every kind, through the commands that take files. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examplesFolder, readExamples } from '../support/examples.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const kept = readExamples().filter(({ file }) => !file.startsWith('requests/'));
let server: TestServer;
let plat: Plat;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', allowPrivileged: true });
  plat = platFor(server);
});
afterAll(() => server.close());

test('no field of an example is unknown, on its way there and back', async () => {
  const { code, stdout, stderr } = await plat.run(['create', '-f', examplesFolder]);
  expect({ code, stderr: stderr.replace(/^Warning: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/ created$/gm)?.length).toBe(kept.length);
});

test('what is there already is applied and compared without a complaint', async () => {
  const kinds = kept.filter(({ served }) => served.kind.virtual !== true && served.kind.verbs.includes('update'));
  const files = kinds.map(({ file }) => `-f${examplesFolder}/${file}`);
  const applied = await plat.run(['apply', '--force-conflicts', ...files]);
  expect({ code: applied.code, stderr: applied.stderr.replace(/^Warning: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  const compared = await plat.run(['diff', ...files]);
  expect({ ...compared, stderr: compared.stderr.replace(/^Warning: .*\n/gm, '') }).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('there is a page of describe for each, of every kind that is kept', async () => {
  const { code, stdout, stderr } = await plat.run(['describe', '-f', examplesFolder]);
  expect({ code, stderr: stderr.replace(/^Warning: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  const pages = stdout.split(/\n\n\n(?=Name:)/);
  expect(pages.map((page) => /^Name: +(\S+)/.exec(page)?.[1])).toEqual(kept.map(({ object }) => object.metadata.name));
});

test('all are deleted by the same files, whatever went with its namespace, definition or owner', async () => {
  const { code, stdout, stderr } = await plat.run(['delete', '-f', examplesFolder, '--timeout=2m']);
  expect({ code, stderr: stderr.replace(/^Warning: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/ deleted$/gm)?.length).toBe(kept.length);
});
