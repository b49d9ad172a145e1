/**
 * Waits on a server without a port keep the process of a script or test alive until they are over; an open server alone does not.
 * The programs run as people run them: in a process of their own, with the built package.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programDirectory, programMissing } from '../support/program.ts';

const node = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  // A runner within a runner would report to that.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
};

const START = `
const server = await startTestServer();
const client = server.client();
const absent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'absent' } };
/** What happens later without anything that keeps the process alive. */
const later = (call) => setTimeout(call, 50).unref();
const create = () => client.create(absent);
`;
const IMPORTS = `
import { startTestServer } from '${programDirectory}/testing.mjs';
import { assertEventually } from '${programDirectory}/testing-node.mjs';
`;

/** A script that nothing keeps alive. */
const CUT_OFF = 'await new Promise(() => {});';

/** What a script does and what it prints. */
const scripts: Readonly<Record<string, readonly [script: string, printed: string]>> = {
  'waitFor that fails': [`await client.waitFor(absent, 'Ready', { timeout: 100 }).catch(({ name }) => console.log(name));`, 'WaitTimeout'],
  'waitFor that succeeds': ['later(create); console.log((await client.waitFor(absent, "create")).metadata.name);', 'absent'],
  'a watch': [
    `later(create); for await (const { object } of client.core.v1.configmaps('default').watch({ fieldSelector: 'metadata.name=absent' })) { console.log(object.metadata.name); break; }`,
    'absent',
  ],
  'a watch by fetch': [
    `later(create); const { body } = await server.fetch('/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dabsent'); for await (const chunk of body) { console.log(JSON.parse(Buffer.from(chunk)).type); break; }`,
    'ADDED',
  ],
  'assertEventually that fails': [
    `await assertEventually(server, absent, { data: {} }, { timeout: 100 }).catch(({ name }) => console.log(name));`,
    'AssertionError',
  ],
  'a delayed request': [`server.faults.delay({}, 100); console.log((await server.request('GET', '/version')).status);`, '200'],
  'a delayed request of a client': [`server.faults.delay({}, 100); console.log((await client.core.v1.nodes().list()).items.length);`, '0'],
  'an informer': [`server.faults.delay({}, 100); await client.core.v1.nodes().informer().synced; console.log('synced');`, 'synced'],
};

/**
 * All scripts in one process, each when nothing keeps that alive after the one before: a script that was not over by then would have
 * been cut off, and one whose open server kept the process alive would be the last.
 */
const PROGRAM = `${IMPORTS}
const scripts = {
${[...Object.entries(scripts), ['cut off', [CUT_OFF]] as const]
  .map(([name, [script]]) => `${JSON.stringify(name)}: async (console, opened) => { ${START} opened(server); ${script} },`)
  .join('\n')}
};
const results = {};
const names = Object.keys(scripts);
let server;
/** Called when nothing keeps the process alive: what a script does from then on does not count. */
let end;
const begin = () => {
  const name = names.shift();
  const printed = [];
  let result = 'not over';
  const note = (text) => { result = text; };
  end = () => { results[name] = result; };
  const opened = (made) => { server = made; };
  scripts[name]({ log: (value) => printed.push(String(value)) }, opened).then(() => note(printed.join(' ')), (error) => note(String(error)));
};
process.on('beforeExit', async () => {
  if (server === undefined) return;
  end();
  // Whatever the closing waits for: the process goes on until then.
  const alive = setInterval(() => {}, 1000);
  const closing = server;
  server = undefined;
  await closing.close();
  clearInterval(alive);
  if (names.length > 0) begin();
  else console.log(JSON.stringify(results));
});
begin();
`;

describe.skipIf(programMissing !== undefined)('waits of scripts', () => {
  let outcome: { code: number; out: string; err: string };
  beforeAll(async () => {
    outcome = await node('--input-type=module', '-e', PROGRAM);
  });
  const resultOf = (name: string): string | undefined => {
    expect(outcome).toMatchObject({ code: 0, err: '' });
    return (JSON.parse(outcome.out) as Record<string, string>)[name];
  };
  test.each(Object.entries(scripts))('%s keeps a script alive until it is over, and an open server does not', (name, [, printed]) => {
    expect(resultOf(name)).toBe(printed);
  });
  test('a script that nothing keeps alive is cut off', () => expect(resultOf('cut off')).toBe('not over'));
});

test.skipIf(programMissing !== undefined)('a wait that fails in node:test is reported, and later tests run', async () => {
  const file = join(temporaryDirectory('plat-waits'), 'wait.test.mjs');
  writeFileSync(
    file,
    `import test from 'node:test';${IMPORTS}${START}
test('first', () => client.waitFor(absent, 'Ready', { timeout: 100 }));
test('second', () => server.close());`,
  );
  const { code, out } = await node('--test', '--test-reporter=tap', file);
  expect(code).toBe(1);
  expect(out).toContain('ConfigMap (v1) default/absent: it does not exist after 100 ms');
  expect(out).toMatch(/^\s*ok 2 - second$/m);
  expect(out).not.toContain('event loop');
});
