/** Work on a large body ends at the next pause when its client has left: nothing more is done, and nothing is stored. */
import https from 'node:https';
import tls from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { nextTurn } from '../../packages/lib/src/next-turn.ts';
import { Slices } from '../../packages/lib/src/slices.ts';
import { unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`key-${i}`, 'v']));
const deploymentSpec = {
  selector: { matchLabels: { a: 'b' } },
  template: {
    metadata: { labels: { a: 'b' } },
    spec: { containers: Array.from({ length: 5_000 }, (_, i) => ({ name: `c${i}`, image: 'x' })) },
  },
};

onStores(['memory'], { identity: 'kubernetes', controllers: [] }, (server) => {
  /** Counts pauses; at the one of that number, what is given is done before the pause ends. */
  function countPauses(at = 0, act: () => void = () => {}) {
    const pause = Slices.prototype.pause;
    const counted = { pauses: 0 };
    vi.spyOn(Slices.prototype, 'pause').mockImplementation(async function (this: Slices) {
      if (++counted.pauses === at) {
        act();
        // The server learns from its connection that the client has left.
        const { isEnded } = this as unknown as { isEnded: () => boolean };
        while (!isEnded()) await nextTurn();
      }
      return pause.call(this);
    });
    return counted;
  }
  const sending = (method: string, path: string, type: string, body: string) => {
    const request = https.request(server().address + path, {
      method,
      agent: false,
      rejectUnauthorized: false,
      headers: { authorization: 'Bearer admin-token', 'content-type': type },
    });
    const closed = new Promise<void>((resolve) => request.once('close', () => resolve()));
    request.on('error', () => {});
    request.end(body);
    return { request, closed };
  };

  test.each([
    ['an apply', 'PATCH', 'application/apply-patch+yaml', 4],
    ['an apply, later', 'PATCH', 'application/apply-patch+yaml', 8],
    ['a create', 'POST', 'application/json', 4],
  ])('%s of a client that leaves ends', async (_, method, type, at) => {
    const namespace = await server().namespace();
    const name = unique();
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const body = JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: deploymentSpec });
    const target = method === 'POST' ? path : `${path}/${name}?fieldManager=m`;
    const counted = countPauses(at, () => request.destroy());
    const { request, closed } = sending(method, target, type, body);
    await closed;
    // A request that is sent after it was broken off is answered after the work would have gone on.
    for (let i = 0; i < 20; i++) expect((await server().admin.get(`${path}/${name}`)).status).toBe(404);
    expect(counted.pauses).toBe(at);
    vi.restoreAllMocks();
    const whole = countPauses();
    const answer = await server().admin.send(method, target, { body, headers: { 'content-type': type } });
    expect(answer.status).toBe(201);
    expect(whole.pauses).toBeGreaterThan(at);
  });

  test('for a client that closes only its side of the connection, long work ends, too, and the connection with it', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const name = unique();
    const { hostname: host, port } = new URL(server().address);
    const options = { host, port: Number(port), rejectUnauthorized: false, allowHalfOpen: true };
    const socket = tls.connect(options);
    const counted = countPauses(4, () => socket.end());
    const body = JSON.stringify({ metadata: { name }, data });
    const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Authorization: Bearer admin-token', 'Content-Type: application/json'];
    socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'));
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect([text, counted.pauses]).toEqual(['', 4]);
    expect((await server().admin.get(`${path}/${name}`)).status).toBe(404);
  });

  test('a patch of a large object ends, and leaves the object as it was', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const name = unique();
    const before = await server().admin.ok('POST', path, { metadata: { name }, data });
    const counted = countPauses(5, () => request.destroy());
    const { request, closed } = sending('PATCH', `${path}/${name}`, 'application/merge-patch+json', '{"data":{"more":"x"}}');
    await closed;
    for (let i = 0; i < 20; i++) {
      const now = await server().admin.get(`${path}/${name}`);
      expect(now.json.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    }
    expect(counted.pauses).toBe(5);
  });
});
