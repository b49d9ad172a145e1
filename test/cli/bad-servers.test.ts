/** Servers that answer with anything: commands say what is wrong and end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { commandClock, FakeClock } from '../../packages/lib/src/clock.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

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

test.each<[string, Answer]>([
  ['never answers', () => {}],
  ['never ends its answer', (_request, response) => void response.writeHead(200, { 'content-length': '100' }).write('{"kind":"Pod"')],
])('a server that %s: every command ends with --request-timeout', async (_what, how) => {
  for (const [line, last] of commands.map((one) => [one.replace(' --timeout=60s', ''), one] as const)) {
    for (const behind of [how, behindDiscovery(how)]) {
      const clock = new FakeClock();
      const io = testIO({ clock, home: temporaryDirectory('plat-home'), stdin: async () => manifest });
      let begun = (): void => {};
      const waiting = new Promise<void>((resolve) => {
        begun = resolve;
      });
      answer = (request, response) => {
        behind(request, response);
        if (!response.writableEnded) begun();
      };
      const code = run([...line.split(' '), '--request-timeout=5s', '--server', address, '--token', 'sesame-9'], io);
      await waiting;
      // Some look for more than one object, or for the reason.
      let ended = false;
      const done = code.finally(() => {
        ended = true;
      });
      while (!ended) await clock.advance(5000);
      expect(await done, last).not.toBe(0);
      expect(io.stdout, last).toBe('');
      expect(io.stderr, last).toContain('gave no answer in time');
    }
  }
});

test('a watch that is lost goes on where it was, and ends when the server is gone', async () => {
  const watches: string[] = [];
  const event = (name: string, resourceVersion: string) => {
    const row = { cells: [name], object: { metadata: { name, resourceVersion } } };
    return `${JSON.stringify({ type: 'ADDED', object: { kind: 'Table', columnDefinitions: [{ name: 'Name', type: 'string' }], rows: [row] } })}\n`;
  };
  const how: Answer = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', address);
    if (searchParams.get('watch') === null)
      return json({ kind: 'Table', metadata: { resourceVersion: '5' }, columnDefinitions: [], rows: [] })(request, response);
    watches.push(searchParams.get('resourceVersion') ?? '');
    const name = ['first', 'second'][watches.length - 1];
    // From the third on it breaks off at once.
    if (name === undefined) return void response.writeHead(200).write('\n', () => response.destroy());
    response.writeHead(200).write(event(name, String(5 + watches.length)), () => response.destroy());
  };
  answer = behindDiscovery(how);
  // The pause between two watches passes at once.
  const clock = { ...commandClock, sleep: async () => {} };
  const io = testIO({ clock, home: temporaryDirectory('plat-home') });
  expect(await run(['get', 'pods', '-w', '--server', address], io)).toBe(1);
  expect(io.stdout).toBe('NAME\nfirst\nsecond\n');
  expect(io.stderr).toBe('plat: the connection to the server was lost before the answer was complete\n');
  // One that is lost is followed by another, unless that is lost before its first event.
  expect(watches).toEqual(['5', '6', '7']);
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
