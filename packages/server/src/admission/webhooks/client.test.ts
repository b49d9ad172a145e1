import { systemClock } from '@plat-dev/lib/clock';
import { issueClient, readAuthority } from '@plat-dev/pki';
import { knative, pepr } from '@plat-dev/pki/namesakes.testing';
import { afterEach, expect, test } from 'vitest';
import { type ClientOptions, WebhookClient } from './client.ts';
import { authority, caBundle, otherAuthority, type Reply, startWebhook, type TestWebhook, type TestWebhookOptions } from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function webhook(reply: Reply, options?: TestWebhookOptions): Promise<TestWebhook> {
  const started = await startWebhook(reply, options);
  open.push(started);
  return started;
}
function client(options: Partial<ClientOptions> = {}): WebhookClient {
  const made = new WebhookClient({
    clock: systemClock,
    credentials: () => ({}),
    resolve: () => ({ host: '127.0.0.1', port: 1 }),
    userAgent: 'test',
    ...options,
  });
  open.push(made);
  return made;
}
const body = '{"request":{"uid":"u","object":null}}';
const fine: Reply = () => ({ allowed: true });
const at = ({ url }: TestWebhook) => ({ url, caBundle });

test('a review is posted, with the time that the webhook has', async () => {
  const hook = await webhook(fine);
  const reply = await client().post(at(hook), body, 10_000);
  expect([reply.status, JSON.parse(reply.body.toString()).response]).toEqual([200, { uid: 'u', allowed: true }]);
  expect(hook.calls[0]).toMatchObject({ path: '/hook?timeout=10s', headers: { 'content-type': 'application/json', 'user-agent': 'test' } });
});

test('a webhook may have a certificate with the name of its CA, as Knative and Pepr make them', async () => {
  for (const make of [knative, pepr]) {
    const { authority: own, server } = make('hook.ns.svc');
    const hook = await webhook(fine, { pair: server });
    const service = { namespace: 'ns', name: 'hook', port: hook.port };
    const called = client({ resolve: () => ({ host: '127.0.0.1', port: hook.port }) });
    const bundle = Buffer.from(own.certificate).toString('base64');
    // Every call is made on a new connection, whose certificate is verified again.
    for (let i = 0; i < 3; i++) {
      expect((await called.post({ service, caBundle: bundle }, body, 5000)).status).toBe(200);
      hook.dropConnections();
    }
    await expect(called.post({ service, caBundle }, body, 5000)).rejects.toThrow('x509: certificate signed by unknown authority');
  }
});

test('connections are kept and shared', async () => {
  const hook = await webhook(fine);
  const one = client();
  for (let i = 0; i < 5; i++) await one.post(at(hook), body, 5000);
  expect(hook.connections()).toBe(1);
  await Promise.all(Array.from({ length: 40 }, () => one.post({ ...at(hook) }, body, 5000)));
  expect(hook.calls).toHaveLength(45);
  expect(hook.connections()).toBeLessThanOrEqual(40);
});

test('more calls than connections wait for their turn, and too many are refused', async () => {
  const waiting: (() => void)[] = [];
  const hook = await webhook(() => new Promise((resolve) => waiting.push(() => resolve({ allowed: true }))));
  const narrow = client({ maxSockets: 2, maxCalls: 4 });
  const calls = Array.from({ length: 4 }, () => narrow.post(at(hook), body, 20_000));
  await expect(narrow.post(at(hook), body, 20_000)).rejects.toThrow(/too many calls are in progress/);
  while (hook.calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(hook.connections()).toBe(2);
  const done = Promise.all(calls);
  const release = setInterval(() => waiting.shift()?.(), 1);
  expect((await done).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  clearInterval(release);
});

test('a connection that was closed while it lay idle is no failure', async () => {
  const hook = await webhook(fine);
  const one = client();
  for (let i = 0; i < 20; i++) {
    await one.post(at(hook), body, 5000);
    hook.dropConnections();
  }
  expect(hook.calls).toHaveLength(20);
});

test('a slow webhook is waited for, one that hangs is not', async () => {
  const slow = await webhook(() => new Promise((resolve) => setTimeout(() => resolve({ allowed: true }), 150)));
  expect((await client().post(at(slow), body, 5000)).status).toBe(200);
  const hangs = await webhook(() => new Promise(() => {}));
  await expect(client().post(at(hangs), body, 200)).rejects.toThrow(
    /^Post "https:\/\/127.0.0.1:\d+\/hook\?timeout=1s": context deadline exceeded$/,
  );
});

test('an answer that never ends is cut at a bound', async () => {
  const hook = await webhook((_review, res) => {
    const more = (): void => {
      while (!res.destroyed && res.write(Buffer.alloc(64 * 1024)));
      res.once('drain', more);
    };
    more();
    return undefined;
  });
  await expect(client({ maxBytes: 1024 * 1024 }).post(at(hook), body, 10_000)).rejects.toThrow(/the answer is too large/);
});

test('a connection that is reset in the middle of the answer is a failure', async () => {
  const hook = await webhook((_review, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"kind":');
    setTimeout(() => res.socket?.destroy(), 20);
    return undefined;
  });
  await expect(client().post(at(hook), body, 5000)).rejects.toThrow(/cut off|reset|aborted/);
  expect(hook.calls).toHaveLength(1);
});

test('a fresh connection that is reset before the answer is not tried again', async () => {
  const hook = await webhook((_review, res) => {
    res.socket?.destroy();
    return undefined;
  });
  await expect(client().post(at(hook), body, 5000)).rejects.toThrow(/reset|hang up/);
  expect(hook.calls).toHaveLength(1);
});

test('certificates are checked: who signed them, and for which name', async () => {
  const stranger = await webhook(fine, { signedBy: otherAuthority });
  await expect(client().post(at(stranger), body, 5000)).rejects.toThrow(/x509: certificate signed by unknown authority/);
  const misnamed = await webhook(fine, { addresses: ['127.0.0.9'] });
  await expect(client().post(at(misnamed), body, 5000)).rejects.toThrow(/x509: .*127\.0\.0\.1/);
  const hook = await webhook(fine);
  await expect(client().post({ url: hook.url }, body, 5000)).rejects.toThrow(/unknown authority/);
  await expect(client().post({ url: hook.url, caBundle: 'bm90IGEgY2VydA==' }, body, 5000)).rejects.toThrow();
  expect([stranger.calls, misnamed.calls, hook.calls]).toEqual([[], [], []]);
});

test('paths are cleaned as a stock server cleans them (finding 40)', async () => {
  const hook = await webhook(fine);
  const one = client({ resolve: () => ({ host: '127.0.0.1', port: hook.port }) });
  const base = `https://127.0.0.1:${hook.port}`;
  for (const path of ['//failing', '/a//b/', '/a/./b/../c', '/', '']) await one.post({ url: `${base}${path}`, caBundle }, body, 5000);
  const named = await webhook(fine, { dns: ['guard.team.svc'] });
  const two = client({ resolve: () => ({ host: '127.0.0.1', port: named.port }) });
  for (const path of ['//x//', 'y/', '/']) await two.post({ service: { namespace: 'team', name: 'guard', path }, caBundle }, body, 5000);
  expect(hook.calls.map(({ path }) => path.replace('?timeout=5s', ''))).toEqual(['/failing', '/a/b', '/a/c', '/', '/']);
  expect(named.calls.map(({ path }) => path.replace('?timeout=5s', ''))).toEqual(['/x', '/y', '/']);
});

test.each([307, 308])('a redirect with %i to the same host is followed with the same body (finding 40)', async (code) => {
  const hook = await webhook((_review, res) => {
    const at = hook.calls.at(-1)?.path ?? '';
    if (at.startsWith('/there')) return { allowed: true };
    res.writeHead(code, { location: at.startsWith('/hook') ? '/second?x=1' : `https://127.0.0.1:${hook.port}/there` }).end();
    return undefined;
  });
  const reply = await client().post(at(hook), body, 10_000);
  expect([reply.status, JSON.parse(reply.body.toString()).response]).toEqual([200, { uid: 'u', allowed: true }]);
  expect(hook.calls.map(({ path }) => path)).toEqual(['/hook?timeout=10s', '/second?x=1', '/there']);
  expect(hook.calls.map(({ review }) => review.request.uid)).toEqual(['u', 'u', 'u']);
});

test('redirects to another host, in circles, to nowhere, and with other codes are not followed (finding 40)', async () => {
  const other = await webhook(fine);
  const leads = async (code: number, location: string): Promise<[string, number]> => {
    const hook = await webhook((_review, res) => {
      res.writeHead(code, { location }).end();
      return undefined;
    });
    const said = await client()
      .post(at(hook), body, 10_000)
      .then(({ status }) => String(status))
      .catch((error: Error) => error.message);
    return [said, hook.calls.length];
  };
  expect(await leads(307, other.url)).toEqual([expect.stringContaining(`redirected to another host (https://127.0.0.1:${other.port})`), 1]);
  expect(await leads(307, 'http://127.0.0.1/hook')).toEqual([expect.stringContaining('redirected to another host'), 1]);
  expect(await leads(308, '/again')).toEqual([expect.stringContaining('stopped after 10 redirects'), 11]);
  expect(await leads(307, 'https://:x:/')).toEqual([expect.stringContaining('which is no address'), 1]);
  expect(await leads(302, '/elsewhere')).toEqual(['302', 1]);
  expect(other.calls).toEqual([]);
});

test('the time of a call counts over its redirects (finding 40)', async () => {
  const hook = await webhook((_review, res) => {
    if (hook.calls.length > 1) return new Promise(() => {});
    res.writeHead(307, { location: '/silent' }).end();
    return undefined;
  });
  await expect(client().post(at(hook), body, 300)).rejects.toThrow(/context deadline exceeded$/);
});

test('a bundle may hold the certificate of the webhook itself (finding 39)', async () => {
  const hook = await webhook(fine);
  const own = { url: hook.url, caBundle: Buffer.from(hook.certificate).toString('base64') };
  expect((await client().post(own, body, 5000)).status).toBe(200);
});

test('nobody listening is reported as such', async () => {
  await expect(client().post({ url: 'https://127.0.0.1:1/x' }, body, 5000)).rejects.toThrow(
    /dial tcp 127.0.0.1:1: connect: connection refused/,
  );
});

test('a service is called at one of its endpoints, under its own name', async () => {
  const hook = await webhook(fine, { dns: ['guard.team.svc'], addresses: [] });
  const asked: string[] = [];
  const one = client({
    resolve: (namespace, name, port) => {
      asked.push(`${namespace}/${name}:${port}`);
      return { host: '127.0.0.1', port: hook.port };
    },
  });
  const service = { namespace: 'team', name: 'guard', path: '/judge', port: 8443 };
  expect((await one.post({ service, caBundle }, body, 5000)).status).toBe(200);
  expect(asked).toEqual(['team/guard:8443']);
  expect(hook.calls[0]).toMatchObject({ path: '/judge?timeout=5s', headers: { host: 'guard.team.svc:8443' } });
  const wrong = client({ resolve: () => ({ host: '127.0.0.1', port: hook.port }) });
  await expect(wrong.post({ service: { ...service, name: 'other' }, caBundle }, body, 5000)).rejects.toThrow(/other\.team\.svc/);
});

test('a service that leads nowhere is a failure', async () => {
  const one = client({
    resolve: () => {
      throw new Error('no endpoints available for service "s"');
    },
  });
  await expect(one.post({ service: { namespace: 'n', name: 's' } }, body, 5000)).rejects.toThrow(/no endpoints available/);
});

test('the server shows the credentials that it has for the place', async () => {
  const hook = await webhook(fine, { clientCA: authority.certificate });
  const mine = issueClient(readAuthority(authority), 'the-server', [], Date.now());
  const asked: string[] = [];
  const one = client({
    credentials: (host, port) => {
      asked.push(`${host}:${port}`);
      return { certificate: mine.certificate, key: mine.key, authorization: 'Bearer secret' };
    },
  });
  await one.post(at(hook), body, 5000);
  expect(asked).toEqual([`127.0.0.1:${hook.port}`]);
  expect(hook.calls[0]).toMatchObject({ peer: 'the-server', headers: { authorization: 'Bearer secret' } });
});

test('places that no webhook names any more lose their connections', async () => {
  const hook = await webhook(fine);
  const one = client();
  const config = at(hook);
  await one.post(config, body, 5000);
  one.keepOnly([]);
  await one.post(config, body, 5000);
  expect(hook.connections()).toBe(2);
});
