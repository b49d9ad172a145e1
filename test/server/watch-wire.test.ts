/** The bytes of a watch on its connection. */
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HeldWaits } from '../support/held-waits.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Watches of so many seconds end when a test has seen what must come before. */
const SECONDS = 3_601;
const held = new HeldWaits(SECONDS * 1000);
const endWatches = (): Promise<void> => held.end(SECONDS * 1000);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', clock: held.clock });
});
afterAll(() => server.close());

/** A connection that speaks as it is told, and collects what comes. */
class Wire {
  text = '';
  private readonly socket: TLSSocket;
  constructor() {
    this.socket = connect({ host: '127.0.0.1', port: server.port, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
    this.socket.on('data', (chunk) => {
      this.text += chunk;
    });
  }
  ask(...paths: string[]): void {
    this.socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n`).join(''));
  }
  say(text: string): void {
    this.socket.write(text);
  }
  async until(done: (text: string) => boolean): Promise<string> {
    while (!done(this.text)) await new Promise((resolve) => this.socket.once('data', resolve));
    return this.text;
  }
  closed(): Promise<unknown> {
    return new Promise((resolve) => this.socket.once('close', resolve));
  }
  close(): void {
    this.socket.destroy();
  }
}
const named = (name: string) => (text: string) => text.includes(`"name":"${name}"`);

/** The chunks of a body, each checked against its length. */
function chunksOf(body: string): string[] {
  const bytes = Buffer.from(body);
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16);
    expect(bytes.toString('latin1', end + 2 + length, end + 4 + length)).toBe('\r\n');
    if (length > 0) chunks.push(bytes.toString('utf8', end + 2, end + 2 + length));
    at = end + 4 + length;
  }
  return chunks;
}

test('events are lines within chunks, and the connection serves the next request when the watch has ended', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  await server.admin.ok('POST', path, { metadata: { name: 'first' }, stringData: { a: 'ä'.repeat(100) } });
  const wire = new Wire();
  wire.ask(`${path}?watch=1&timeoutSeconds=${SECONDS}`, '/version');
  await wire.until(named('first'));
  await Promise.all(['a', 'b', 'c'].map((name) => server.admin.ok('POST', path, { metadata: { name, annotations: { of: 'Köln' } } })));
  await wire.until((got) => ['a', 'b', 'c'].every((name) => named(name)(got)));
  await endWatches();
  const text = await wire.until((got) => got.includes('gitVersion') && got.endsWith('}'));
  const [watched = '', version = ''] = text.split(/(?=HTTP\/1\.1 200 OK\r\n)/);
  expect(version).toMatch(/"gitVersion"/);
  const [head = '', body = ''] = watched.split(/\r\n\r\n(.*)/s);
  expect(head).toMatch(/\r\nTransfer-Encoding: chunked/i);
  expect(body.endsWith('\r\n0\r\n\r\n')).toBe(true);
  const lines = chunksOf(body).join('').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).object.metadata.name).sort()).toEqual(['a', 'b', 'c', 'first']);
  wire.close();
});

test('a watch that was asked for behind another has its turn when that has ended, with all that came meanwhile', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const wire = new Wire();
  wire.ask(`${path}?watch=1&timeoutSeconds=${SECONDS}`, `${path}?watch=1`);
  await wire.until((text) => text.includes('HTTP/1.1 200'));
  await server.admin.ok('POST', path, { metadata: { name: 'early' } });
  await wire.until(named('early'));
  await endWatches();
  await wire.until((text) => text.split('HTTP/1.1 200').length === 3);
  await server.admin.ok('POST', path, { metadata: { name: 'late' } });
  const whole = await wire.until(named('late'));
  const bodies = whole.split(/(?=HTTP\/1\.1 200)/).map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4));
  const names = bodies.map((body) => chunksOf(body).map((line) => JSON.parse(line).object.metadata.name));
  expect(names).toEqual([['early'], ['early', 'late']]);
  wire.close();
});

test('a client of HTTP/1.0 gets lines without chunks, until the connection ends', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const wire = new Wire();
  wire.say(`GET ${path}?watch=1&timeoutSeconds=${SECONDS} HTTP/1.0\r\nAuthorization: Bearer admin-token\r\n\r\n`);
  await wire.until((text) => text.includes('\r\n\r\n'));
  await server.admin.ok('POST', path, { metadata: { name: 'one' } });
  const closed = wire.closed();
  await wire.until(named('one'));
  await endWatches();
  await closed;
  const [head = '', body = ''] = wire.text.split(/\r\n\r\n(.*)/s);
  expect(head).not.toMatch(/chunked/i);
  expect(JSON.parse(body)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'one' } } });
});

test('watchers of many kinds see the same change, each in its own form', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const { metadata } = await server.admin.ok('POST', path, { metadata: { name: 'a', labels: { on: 'yes' } } });
  const from = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const open = (accept: string, selector = '') => server.admin.clone().watch(`${from}${selector}`, { accept });
  const watches = await Promise.all([
    ...[table, table, partial, partial, 'application/json', 'application/json'].map((accept) => open(accept)),
    open('application/json', '&labelSelector=on'),
    open('application/json', '&labelSelector=on'),
    open(partial, '&labelSelector=on'),
  ]);
  await server.admin.patch(`${path}/a`, { metadata: { labels: { on: null } } });
  await server.admin.patch(`${path}/a`, { metadata: { labels: { on: 'again' } } });
  const seen = await Promise.all(watches.map((watch) => watch.take(2)));
  const brief = seen.map((events) => events.map(({ type, object }) => [type, object.kind, object.metadata.labels?.on]));
  expect(brief.slice(0, 2)).toEqual(
    Array(2).fill([
      ['MODIFIED', 'Table', undefined],
      ['MODIFIED', 'Table', undefined],
    ]),
  );
  expect(brief.slice(2, 4)).toEqual(
    Array(2).fill([
      ['MODIFIED', 'PartialObjectMetadata', undefined],
      ['MODIFIED', 'PartialObjectMetadata', 'again'],
    ]),
  );
  expect(brief.slice(4, 6)).toEqual(
    Array(2).fill([
      ['MODIFIED', 'Secret', undefined],
      ['MODIFIED', 'Secret', 'again'],
    ]),
  );
  expect(brief.slice(6)).toEqual(
    ['Secret', 'Secret', 'PartialObjectMetadata'].map((kind) => [
      ['DELETED', kind, 'yes'],
      ['ADDED', kind, 'again'],
    ]),
  );
  // Only the first Table of each names the columns.
  for (const [first, second] of seen.slice(0, 2)) {
    expect(first?.object.columnDefinitions.length).toBeGreaterThan(0);
    expect(second?.object.columnDefinitions).toBe(null);
    expect(second?.object.rows[0].object.metadata.labels.on).toBe('again');
  }
  for (const watch of watches) watch.close();
});
