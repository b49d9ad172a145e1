/** How a server ends: gracefully and in order, or at once when it is told twice. */

import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLOSE_WAIT_MS } from '../../packages/compose/src/listeners.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { clientOf, finished, programMissing, startPlat } from '../support/program.ts';
import { type Answer, type Loose, startTestServer } from '../support/server.ts';

/** A request whose body is held back: it is under way until the rest is sent. */
function slowPost(address: string, path: string, object: Loose) {
  const body = jsonText(object);
  const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const request = https.request(`${address}${path}`, { method: 'POST', headers, agent });
  const answered = new Promise<number>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode as number);
    });
    request.on('error', reject);
  });
  const sent = new Promise<void>((resolve) => request.write(body.slice(0, 5), () => resolve()));
  return { sent, answered, finish: () => request.end(body.slice(5)) };
}

describe.each([{ http2: false }, { http2: true }])('a graceful end (HTTP/2: $http2)', (protocol) => {
  test('readiness fails first, watches end cleanly, requests under way finish, the store is closed', async () => {
    const DELAY_MS = 300_001;
    const held = new HeldWaits(DELAY_MS, CLOSE_WAIT_MS);
    const server = await startTestServer({ shutdownDelayDuration: DELAY_MS, clock: held.clock });
    const client = server.client({ token: 'admin-token', ...protocol });
    const watch = await client.watch('/api/v1/namespaces?watch=1&resourceVersion=0');
    await watch.next();
    const slow = slowPost(server.address, '/api/v1/namespaces', { metadata: { name: 'slow' } });
    await slow.sent;
    expect((await client.get('/readyz')).status).toBe(200);

    const closing = server.running.close();
    let ready: Answer;
    do ready = await client.get('/readyz?verbose');
    while (ready.status === 200);
    expect(ready.text).toContain('[-]shutdown failed');
    // Load balancers need time to notice; until then everything is served.
    expect((await client.get('/livez')).status).toBe(200);
    expect((await client.get('/api/v1/namespaces/default')).status).toBe(200);
    await held.end(DELAY_MS);
    expect(await watch.ended).toBe('end');
    await server.engine.ping();
    slow.finish();
    expect(await slow.answered).toBe(201);
    // Nothing that is idle is waited for: the time after which connections are broken does not come here.
    await closing;
    await expect(server.engine.ping()).rejects.toThrow();
    await expect(server.client({ token: 'admin-token' }).get('/version')).rejects.toThrow('ECONNREFUSED');
    expect(new Set(server.errors)).toEqual(
      new Set(['health check failed {"page":"readyz","failures":["shutdown: process is shutting down"]}']),
    );
  });
});

describe.skipIf(programMissing !== undefined)(`the program (${programMissing ?? 'built'})`, () => {
  test('one signal ends it well', async () => {
    const server = await startPlat(['--store', 'memory']);
    server.child.process.kill('SIGTERM');
    expect(await finished(server.child)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('stopping; interrupt again to stop at once'),
    });
  });

  test('a second signal ends it at once, whatever is under way', async () => {
    const tokens = join(temporaryDirectory('plat-tokens'), 'tokens.csv');
    writeFileSync(tokens, 'admin-token,admin,1,"system:masters"\n');
    const server = await startPlat(['--store', 'memory', '--token-auth-file', tokens]);
    expect((await clientOf(server, 'admin-token').get('/version')).status).toBe(200);
    const slow = slowPost(server.address, '/api/v1/namespaces', { metadata: { name: 'slow' } });
    slow.answered.catch(() => {});
    await slow.sent;
    const { process: child } = server.child;
    child.kill('SIGINT');
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', () => server.child.errors().includes('stopping') && resolve());
    });
    child.kill('SIGINT');
    expect(await finished(server.child)).toMatchObject({ code: 130 });
  });
});
