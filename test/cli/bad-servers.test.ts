/** Servers that answer with anything: commands say what is wrong and end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/cli/index.ts';
import { type TestIO, testIO } from '../../src/cli/testing.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let address: string;
let answer: Answer;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function plat(line: string, how: Answer, program: 'plat' | 'kubectl' = 'plat'): Promise<{ code: number; io: TestIO }> {
  answer = how;
  const io = testIO({ program, home: temporaryDirectory('plat-home'), stdin: async () => manifest });
  return { code: await run([...line.split(' '), '--server', address, '--token', 'sesame-9'], io), io };
}
const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } });
const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
const text =
  (value: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(value);
  };
const half: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"a', () => response.destroy());
};
const pods = {
  name: 'pods',
  singularName: '',
  kind: 'Pod',
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'delete', 'create', 'patch'],
};
const maps = { ...pods, name: 'configmaps', kind: 'ConfigMap' };
/** Discovery is good, the rest is not. */
const behindDiscovery =
  (how: Answer): Answer =>
  (request, response) => {
    if (request.url === '/api/v1') json({ kind: 'APIResourceList', groupVersion: 'v1', resources: [pods, maps] })(request, response);
    else if (request.url === '/apis') json({ kind: 'APIGroupList', groups: [] })(request, response);
    else how(request, response);
  };

const commands = [
  'get pods',
  'get pods a -o yaml',
  'describe pod a',
  'delete pod a --wait=false',
  'apply -f -',
  'create -f -',
  'label pod a x=y',
];
commands.push('wait pod/a --for=delete --timeout=60s', 'logs a', 'diff -f -', 'replace -f -', 'run a --image=x', 'get pods -w');

test.each<[string, Answer]>([
  ['a page', text('<html>\u001b[2Jlogin</html>')],
  ['null', json(null)],
  ['a number', json(5)],
  ['a list', json([])],
  ['an object without a kind', json({ items: [] })],
  ['nothing', text('')],
  ['a redirect', text('', 302, { location: 'http://127.0.0.1:1/' })],
  ['half an answer', half],
  ['a closed connection', (request) => void request.socket.destroy()],
  ['an odd Status', json({ kind: 'Status', message: { a: 1 }, reason: 5, details: 'x', code: 'y' }, 400)],
  ['500', text('oops\u001b[2J', 500)],
])('%s: no command succeeds, or shows more than what is wrong', async (_what, how) => {
  for (const program of ['plat', 'kubectl'] as const) {
    for (const line of commands) {
      const { code, io } = await plat(line, behindDiscovery(how), program);
      expect(code, line).not.toBe(0);
      expect(io.stdout, line).toBe('');
      expect(io.stderr, line).toMatch(/^(Warning: fields of v1 were not checked[^\n]*\n)?(plat|error|Error|Unable)\b.*\n$/s);
      expect(io.stderr, line).not.toMatch(
        /\p{Cc}[[\]]|sesame|Cannot read|is not a function|is not iterable|undefined|Unexpected|\[object/u,
      );
    }
  }
});

test('credentials do not follow a redirect', async () => {
  const seen: string[] = [];
  const other = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  for (const line of [...commands, 'get --raw /x', 'version', 'api-resources', 'explain pod']) {
    expect((await plat(line, text('', 307, { location }))).code, line).not.toBe(0);
  }
  other.close();
  expect(seen).toEqual([]);
});

test('-v 9 shows neither tokens nor escape sequences of the server', async () => {
  const { io } = await plat('get pods -v 9', behindDiscovery(text('{"kind":"\u009b2J"', 200, { 'x-odd': 'a\u009b2J' })));
  expect(io.stderr).toContain('authorization: <masked>');
  expect(io.stderr).not.toMatch(/sesame|\u009b/);
});
