/**
 * What the authorizer is asked is where connections lead: log, exec, attach, portforward and proxy, for pods of two namespaces
 * on two nodes, with and without tricks in the path. Every target notes what reaches it. Services lead to addresses that are
 * not loopback: test/connect/proxy.test.ts has them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attributes, Authorizer } from '../../packages/server/src/auth/types.ts';
import { addNode, type Backend, rawConnection, servingFor, startBackend, startWorld, type World } from '../connect/support.ts';

const asked: Attributes[] = [];
const recording = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  authorize: (attributes) => {
    // The server's own parts ask as well, and rights of a request that goes on are asked for again.
    const again = asked.some((one) => JSON.stringify(one) === JSON.stringify(attributes));
    if (attributes.user.name === 'admin' && !again) asked.push(attributes);
    return authorizer.authorize(attributes);
  },
});

let world: World;
/** Agents of nodes by their names, and what pods serve by their namespaces. */
const targets = new Map<string, Backend>();
const nodeOf: Record<string, string> = { alpha: 'n1', beta: 'n2' };

beforeAll(async () => {
  world = await startWorld(() => ({ wrapAuthorizer: recording }));
  const { server, authority } = world;
  targets.set('n1', world.agent);
  targets.set('n2', await startBackend(servingFor(authority)));
  await addNode(server, 'n2', (targets.get('n2') as Backend).port);
  for (const ns of ['alpha', 'beta']) {
    const backend = await startBackend();
    targets.set(ns, backend);
    const base = `/api/v1/namespaces/${ns}`;
    await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: ns } });
    await server.admin.send('POST', `${base}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
    const ports = [{ name: 'http', containerPort: backend.port }];
    await server.admin.ok('POST', `${base}/pods`, {
      metadata: { name: 'p' },
      spec: { nodeName: nodeOf[ns], containers: [{ name: 'main', image: 'i', ports }] },
    });
    await server.admin.patch(`${base}/pods/p/status`, { status: { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] } });
  }
  for (const backend of targets.values())
    backend.upgrade = (_req, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
});
afterAll(async () => {
  await world.close();
  for (const backend of targets.values()) if (backend !== world.agent) await backend.close();
});

/** Where a question leads if it is allowed, and how the path begins that arrives there. */
function expected({ resource, subresource, namespace, name }: Attributes): [string, string] {
  const [, bare = name] = /^(?:https?:)?([^:]+)(?::[^:]*)?$/.exec(name) ?? [];
  if (subresource === 'proxy') return [resource === 'nodes' ? bare : namespace, '/'];
  const verbs: Record<string, string> = { log: 'containerLogs', exec: 'exec', attach: 'attach', portforward: 'portForward' };
  return [nodeOf[namespace] ?? '', `/${verbs[subresource]}/${namespace}/${name}`];
}

const DETOURS = ['..%2f', '%2e%2e/', '../', '%2e%2e%2f', './../'];
const pod = '/api/v1/namespaces/alpha/pods/p';
const subresources = ['log', 'exec?command=x&stdout=1', 'attach?stdout=1', 'portforward?ports=80', 'proxy/x', 'proxy/', 'proxy'];
const paths = [
  ...['alpha', 'beta'].flatMap((ns) => subresources.map((sub) => `/api/v1/namespaces/${ns}/pods/p/${sub}`)),
  ...['n1', 'n2'].map((node) => `/api/v1/nodes/${node}/proxy/exec/beta/p/main`),
  `${pod}:http/proxy/x`,
  '/api/v1/namespaces/alpha/pods/http:p:http/proxy/x',
  // Steps from one object to another, encoded and not.
  ...DETOURS.flatMap((up) => [
    `${pod}/proxy/${up.repeat(4)}beta/pods/p/proxy/x`,
    `${pod}/${up.repeat(3)}beta/pods/p/log`,
    `/api/v1/namespaces/alpha/${up}beta/pods/p/exec?command=x&stdout=1`,
    `/api/v1/namespaces/alpha${up.replace('/', '%2f')}beta/pods/p/portforward?ports=80`,
  ]),
  // More, or fewer, or other parts than there are.
  `${pod}/log/x`,
  `${pod}/exec/beta/p?command=x&stdout=1`,
  `${pod}//exec?command=x&stdout=1`,
  `${pod}%2fexec?command=x&stdout=1`,
  `/api/v1/pods/p/log`,
  `/api/v1/pods/p/proxy/x`,
  `/api/v1/nodes/n1/log`,
  `/api/v1/namespaces/alpha/nodes/n2/proxy/x`,
  `/api/v1/watch/namespaces/alpha/pods/p/log`,
  `/api/v1/proxy/namespaces/alpha/pods/p/x`,
  // What a query says is not where a request leads.
  `${pod}/log?namespace=beta&name=q&container=main`,
  `${pod}/log?container=..%2f..%2f..%2fbeta%2fp%2fmain`,
  `${pod}/exec?command=x&stdout=1&container=main%2f..%2f..%2f..%2fbeta%2fp%2fmain`,
  `${pod}/portforward?ports=80&namespace=beta`,
];

test.each(paths)('%s', async (path) => {
  for (const [method, protocol] of [
    ['GET', ''],
    ['GET', 'SPDY/3.1'],
    ['GET', 'websocket'],
    ['POST', 'SPDY/3.1'],
    ['DELETE', ''],
  ] as const) {
    asked.length = 0;
    for (const { seen } of targets.values()) seen.length = 0;
    const switches = protocol === '' ? 'Connection: close\r\n' : `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
    // Sent as it is: other clients tidy paths.
    const connection = await rawConnection(
      world.server,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n${switches}\r\n`,
    );
    await connection.until(({ ended }) => ended);
    connection.socket.destroy();
    const status = Number(connection.text.slice(9, 12));
    const reached = [...targets].flatMap(([name, { seen }]) => seen.map(({ url }) => [name, url] as const));
    const where = `${method} ${protocol} ${path} → ${status}, asked ${JSON.stringify(asked.map(({ user: _, ...rest }) => rest))}`;
    expect(status, where).not.toBe(500);
    if (reached.length === 0) {
      expect(status, where).toBeGreaterThanOrEqual(300);
      continue;
    }
    expect([reached.length, asked.length], where).toEqual([1, 1]);
    const [target, start] = expected(asked[0] as Attributes);
    const [name, url] = reached[0] as readonly [string, string];
    // Behind a proxy, an escaped slash is the target's own business; a step upwards is nobody's.
    const steps = /(^|\/)(\.|%2e){2}(\/|$)/i.test(url) || (asked[0]?.subresource !== 'proxy' && url.split('?')[0]?.includes('..'));
    expect([name, url.startsWith(start), steps], `${where}: ${url}`).toEqual([target, true, false]);
    if (status < 300) expect(['get', 'create', 'delete'], where).toContain(asked[0]?.verb);
  }
});

test('every way that has no trick arrives', async () => {
  for (const path of paths.slice(0, 18).filter((one) => !one.endsWith('/proxy'))) {
    for (const { seen } of targets.values()) seen.length = 0;
    const headers: Record<string, string> = /exec\?|attach|portforward/.test(path) ? { connection: 'Upgrade', upgrade: 'SPDY/3.1' } : {};
    await world.server.admin.send('GET', path, { headers });
    expect([...targets.values()].flatMap(({ seen }) => seen).length, path).toBe(1);
  }
});
