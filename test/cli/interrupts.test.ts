/** An interrupt ends every command in every phase: each of its requests is left unanswered once. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let front: Server;
let ns: string;
/** Requests since the command began, and the one that is not answered. */
let requests: string[] = [];
let silent: (path: string, count: number) => boolean = () => false;
let reached: () => void = () => {};
/** The command that runs: the first part of its paths. */
let current = 0;

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', headers } = request;
  const [, of = '', url = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
  // What an interrupted command sent may arrive late.
  if (Number(of) !== current) return void response.destroy();
  requests.push(`${method} ${url}`);
  if (silent(url, requests.length)) return reached();
  const passed = Object.fromEntries(['accept', 'content-type'].flatMap((name) => (headers[name] ? [[name, headers[name] as string]] : [])));
  const body = Buffer.concat(chunks);
  const answer = await server.admin.open(method, url, { headers: passed, ...(body.length > 0 && { body: body.toString() }) });
  response.writeHead(answer.status, { 'content-type': String(answer.headers['content-type']) });
  answer.body.on('error', () => response.destroy());
  response.on('close', () => answer.destroy());
  answer.body.pipe(response);
}
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  front = createServer((request, response) => void forward(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  ns = await server.namespace();
  for (const name of ['a', 'b']) await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name } });
});
afterAll(async () => {
  front.closeAllConnections();
  front.close();
  await server.close();
});

/** With what it learned about the server forgotten. */
const command = (line: string, program: 'plat' | 'kubectl' = 'plat') => {
  requests = [];
  current++;
  const plat = platFor(server, {}, ['--server', `http://127.0.0.1:${(front.address() as AddressInfo).port}/${current}`], program);
  return plat.start(
    line.split(' ').map((word) => (word === 'NS' ? ns : word)),
    manifests,
  );
};
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: '1' } });
const manifests = { apiVersion: 'v1', kind: 'List', items: [configMap('a'), configMap('b'), configMap('c')] };

test.each([
  'get configmaps -n NS',
  'get configmaps,secrets -n NS -o yaml',
  'describe configmap a -n NS',
  'apply -n NS -f - --dry-run=server',
  'apply -n NS -f - --dry-run=server --server-side=false',
  'create -n default -f - --dry-run=server',
  'replace -n NS -f - --dry-run=server',
  'delete -n NS configmap a b --dry-run=server',
  'label -n NS configmap a b x=y --dry-run=server',
  'diff -n NS -f -',
  'wait -n NS configmap/a --for=jsonpath={.metadata.name}=a',
  'explain configmap.data',
  'api-resources',
  'api-versions',
  'events -n NS',
  'tree -n NS configmap/a',
  'auth can-i list pods -n NS',
  'get --raw /version',
])('%s', async (line) => {
  silent = () => false;
  const whole = command(line);
  await whole.code;
  const count = requests.length;
  expect(count).toBeGreaterThan(0);
  // Of many requests the first, one between and the last: most of those between are sent together.
  const phases = count <= 8 ? Array.from({ length: count }, (_, i) => i + 1) : [1, 2, Math.ceil(count / 2), count];
  for (const nth of phases) {
    silent = (_, at) => at === nth;
    const held = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { io, code } = command(line);
    await Promise.race([held, code]);
    io.send('SIGINT');
    const what = `${line}: interrupted in ${requests.at(-1)}`;
    expect(await code, what).toBe(130);
    // By itself: nobody had to end the process.
    expect(io.exited, what).toBeUndefined();
    // Whole lines of what it prints, and no error.
    expect(io.stdout === '' || io.stdout.endsWith('\n'), what).toBe(true);
    expect(io.stderr, what).not.toMatch(/abort|^plat: |Error/im);
  }
});

test.each(['get configmaps -n NS -w', 'get configmaps -n NS -w -o name', 'events -n NS --watch', 'wait -n NS configmap/a --for=delete'])(
  'a watch: %s',
  async (line) => {
    for (const isSilent of [true, false]) {
      const watching = new Promise<void>((resolve) => {
        reached = resolve;
      });
      // It is interrupted before its answer begins, or while it waits for events.
      silent = (path) => {
        if (!/[?&]watch=/.test(path)) return false;
        if (!isSilent) reached();
        return isSilent;
      };
      const { io, code } = command(line);
      await Promise.race([watching, code]);
      io.send('SIGINT');
      expect(await code).toBe(130);
      expect(io.exited).toBeUndefined();
      expect(io.stderr).not.toMatch(/abort|^plat: |Error/im);
    }
  },
);

test('a termination has its own exit code', async () => {
  const held = new Promise<void>((resolve) => {
    reached = resolve;
  });
  silent = () => true;
  const { io, code } = command('get configmaps -n NS', 'kubectl');
  await held;
  io.send('SIGTERM');
  expect(await code).toBe(143);
});
