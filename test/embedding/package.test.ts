/** The package as programs load it: from both kinds of modules, and with a clear message where Node is too old. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { programDirectory, programMissing } from '../support/program.ts';

const node = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
};

const SERVE = `
const server = await startServer({ store: 'memory', securePort: 0 }, { log });
console.log(server.adminConfig.includes(server.address), typeof Transport);
await server.close();
`;
const LOG = 'const log = { error() {}, warn() {}, info() {}, debug() {}, enabled: () => false, child: () => log, flush() {} };';

test.skipIf(programMissing !== undefined).each([
  ['module', `import { startServer, Transport } from '${programDirectory}/index.js'; ${LOG} ${SERVE}`, '--input-type=module'],
  [
    'commonjs',
    `const { startServer, Transport } = require('${programDirectory}/index.cjs'); ${LOG} (async () => { ${SERVE} })();`,
    '--input-type=commonjs',
  ],
])('a server starts and ends in a %s, and the process with it', async (_, program, type) => {
  expect(await node(type, '-e', program)).toEqual({ code: 0, out: 'true function\n', err: '' });
});

const TEST = `
const server = await startTestServer({ identity: 'kubernetes' });
const { metadata } = await server.client().core.v1.namespaces().create({ metadata: { name: 'a' } });
const error = await server.client('alice').core.v1.namespaces().get('a').catch((thrown) => thrown);
console.log(metadata.name, error instanceof ApiError, error.reason);
await server.close();
`;

test.skipIf(programMissing !== undefined).each([
  ['module', `import { ApiError, startTestServer } from '${programDirectory}/testing.js'; ${TEST}`, '--input-type=module'],
  [
    'commonjs',
    `const { ApiError } = require('${programDirectory}/index.cjs'); const { startTestServer } = require('${programDirectory}/testing.cjs'); (async () => { ${TEST} })();`,
    '--input-type=commonjs',
  ],
])('the kit for tests loads in a %s, shares its classes with the package, and lets the process end', async (_, program, type) => {
  expect(await node(type, '-e', program)).toEqual({ code: 0, out: 'a true Forbidden\n', err: '' });
});

test.skipIf(programMissing !== undefined)('a version of Node that is too old is named', async () => {
  const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '16.20.2' })`;
  const { code, err } = await node('--import', old, `${programDirectory}/plat.js`, 'version');
  expect({ code, err }).toEqual({ code: 1, err: 'plat: Node 20.12 or newer is needed; this is 16.20.2\n' });
});
