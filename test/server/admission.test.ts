/** Admission as clients see it: a whole server, real webhooks, many requests at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../packages/lib/src/log.ts';
import { caBundle, patched, type Reply, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  // What this controller puts into every namespace would pass the webhooks as well.
  server = await startTestServer({ identity: 'kubernetes', controllers: ['*', '-root-ca-cert-publisher'] });
});
afterAll(() => server.close());

const G = '/apis/admissionregistration.k8s.io/v1';
const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

async function merge(to: TestServer, path: string, body: object): Promise<void> {
  const answer = await to.admin.send('PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } });
  expect(answer.status, answer.text).toBe(200);
}

/** Configures a webhook for the objects of one namespace. Answers the webhook, and what takes it away. */
async function configured(
  sort: 'mutating' | 'validating',
  namespace: string,
  reply: Reply,
  more: object = {},
): Promise<[TestWebhook, () => Promise<void>]> {
  const hook = await startWebhook(reply);
  const name = unique('hook');
  const webhook = {
    name: `${name}.example.test`,
    clientConfig: { url: hook.url, caBundle },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    // The longest there is: a busy machine may take its time.
    timeoutSeconds: 30,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...more,
  };
  const kind = sort === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  await server.admin.ok('POST', `${G}/${kind.toLowerCase()}s`, { metadata: { name }, webhooks: [webhook] });
  return [
    hook,
    async () => {
      await server.admin.ok('DELETE', `${G}/${kind.toLowerCase()}s/${name}`);
      await hook.close();
    },
  ];
}

test('hundreds of requests pass three webhooks, none lost and none doubled', async () => {
  const ns = await server.namespace();
  const mark =
    (key: string): Reply =>
    ({ request }) =>
      patched({ op: 'add', path: `/data/${key}`, value: `${request.name}` });
  const [first, removeFirst] = await configured('mutating', ns, mark('first'));
  const [second, removeSecond] = await configured('mutating', ns, mark('second'));
  const [judge, removeJudge] = await configured('validating', ns, ({ request }) => {
    const { data } = request.object as unknown as { data: Record<string, string> };
    return { allowed: data.first === request.name && data.second === request.name && !String(request.name).endsWith('7') };
  });
  const names = Array.from({ length: 200 }, (_, i) => `c${i}`);
  const codes = new Map<string, number>();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < names.length) {
      const name = names[next++] as string;
      const answer = await server.admin.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name }, data: { a: '1' } });
      codes.set(name, answer.status);
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  for (const name of names) expect(codes.get(name), name).toBe(name.endsWith('7') ? 400 : 201);
  for (const hook of [first, second, judge]) {
    const asked = hook.calls.map(({ review }) => review.request.name as string).sort();
    expect(asked).toEqual([...names].sort());
    expect(new Set(hook.calls.map(({ review }) => review.request.uid)).size).toBe(names.length);
  }
  const { items } = (await server.admin.get(`/api/v1/namespaces/${ns}/configmaps`)).json;
  const mine = items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith('c'));
  expect(mine).toHaveLength(names.length * 0.9);
  for (const { metadata, data } of mine) expect(data).toEqual({ a: '1', first: metadata.name, second: metadata.name });
  for (const remove of [removeFirst, removeSecond, removeJudge]) await remove();
  expect(server.errors).toEqual([]);
});

test('a webhook that hangs holds up only what concerns it', async () => {
  const ns = await server.namespace();
  const [, remove] = await configured('validating', ns, () => new Promise(() => {}), { timeoutSeconds: 1 });
  const held = server.admin.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'held' } });
  expect((await server.admin.post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'free' } })).status).toBe(201);
  const answer = await held;
  expect([answer.status, answer.json.message]).toEqual([500, expect.stringContaining('context deadline exceeded')]);
  await remove();
});

test.each([600, 1000, -1])('a refusal with the code %d, which cannot be sent, is answered all the same', async (code) => {
  const ns = await server.namespace();
  const [, remove] = await configured('validating', ns, () => ({ allowed: false, status: { code, message: 'no' } }));
  for (const client of [server.admin, server.client({ token: 'admin-token', http2: true })]) {
    const answer = await client.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'c' } });
    expect([400, 500, 600]).toContain(answer.status);
    expect(answer.json.message).toMatch(/denied the request: no$/);
  }
  await remove();
  expect(server.errors).toEqual([]);
});

test('warnings in any script arrive as UTF-8, those that would break the head not at all', async () => {
  const ns = await server.namespace();
  const warnings = ['größer als ☃', 'a\r\nX-Forged: 1', 'say "no"'];
  const [, remove] = await configured('validating', ns, () => ({ allowed: true, warnings }));
  for (const client of [server.admin, server.client({ token: 'admin-token', http2: true })]) {
    const { headers } = await client.post(`/api/v1/namespaces/${ns}/configmaps?dryRun=All`, { metadata: { name: 'c' } });
    const read = Buffer.from([headers.warning].flat().join(', '), 'latin1').toString();
    expect(read).toBe('299 - "größer als ☃", 299 - "say \\"no\\""');
    expect(headers['x-forged']).toBeUndefined();
  }
  await remove();
});

test.each(['memory', 'lmdb'] as const)('two hundred creations at once under a quota of fifty leave fifty (%s)', async (store) => {
  const own = await startTestServer({ identity: 'kubernetes', store, controllers: [] });
  try {
    const ns = await own.namespace();
    const quotas = `/api/v1/namespaces/${ns}/resourcequotas`;
    await own.admin.ok('POST', quotas, { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '50' } } });
    const status = { hard: { 'count/configmaps': '50' }, used: { 'count/configmaps': '0' } };
    await merge(own, `${quotas}/q/status`, { status });
    // All at once on one connection: one for each would take longer than the requests.
    const client = own.client({ token: 'admin-token', http2: true });
    const create = (name: string) => client.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name } });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => create(`c${i}`)));
    const count = (code: number): number => answers.filter((answer) => answer.status === code).length;
    expect([count(201), count(403)]).toEqual([50, 150]);
    const refused = answers.find((answer) => answer.status === 403);
    expect(refused?.json.message).toContain(
      'exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=50, limited: count/configmaps=50',
    );
    expect((await own.admin.get(`/api/v1/namespaces/${ns}/configmaps`)).json.items).toHaveLength(50);
    expect((await own.admin.get(`${quotas}/q`)).json.status.used).toEqual({ 'count/configmaps': '50' });
    // One that fails after the check charges nothing.
    await merge(own, `${quotas}/q/status`, { status: { used: { 'count/configmaps': '49' } } });
    const taken = answers.findIndex((answer) => answer.status === 201);
    expect((await create(`c${taken}`)).status).toBe(409);
    expect((await own.admin.get(`${quotas}/q`)).json.status.used).toEqual({ 'count/configmaps': '49' });
  } finally {
    await own.close();
  }
});

test('a quota that a user changes meanwhile is neither overwritten nor overshot', async () => {
  const ns = await server.namespace();
  const quotas = `/api/v1/namespaces/${ns}/resourcequotas`;
  await server.admin.ok('POST', quotas, { metadata: { name: 'q' }, spec: { hard: { secrets: '1000' } } });
  while ((await server.admin.get(`${quotas}/q`)).json.status?.used === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const labels = Array.from({ length: 20 }, (_, i) => merge(server, `${quotas}/q`, { metadata: { labels: { [`l${i}`]: 'x' } } }));
  const made = Array.from({ length: 60 }, (_, i) =>
    server.admin.ok('POST', `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: `s${i}` } }),
  );
  await Promise.all([...labels, ...made]);
  const { metadata, status } = (await server.admin.get(`${quotas}/q`)).json;
  expect(Object.keys(metadata.labels)).toHaveLength(20);
  expect(status.used.secrets).toBe('60');
});

test('a client that asks and may learns what admission did', async () => {
  const ns = await server.namespace();
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const ask = { 'x-plat-explain': 'true' };
  const plain = await server.admin.post(`${pods}?dryRun=All`, pod);
  expect(plain.headers['x-plat-explain']).toBeUndefined();
  const explained = await server.admin.post(`${pods}?dryRun=All`, pod, ask);
  const steps = JSON.parse(explained.headers['x-plat-explain'] as string) as { step: string; phase: string; changed?: string[] }[];
  expect(steps.find(({ step }) => step === 'ServiceAccount')?.changed).toContain('+/spec/volumes');
  expect(steps.at(-1)).toMatchObject({ step: 'ResourceQuota', phase: 'validate' });
  const refused = await server.admin.post(pods, { ...pod, spec: { ...pod.spec, priorityClassName: 'none' } }, ask);
  expect(refused.json.details.causes.at(-1)).toMatchObject({
    reason: 'AdmissionStep',
    field: 'Priority',
    message: expect.stringContaining('no PriorityClass'),
  });

  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces';
  const role = { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }] };
  await server.admin.ok('POST', `${rbac}/${ns}/roles`, role);
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' };
  await server.admin.ok('POST', `${rbac}/${ns}/rolebindings`, { metadata: { name: 'b' }, roleRef, subjects });
  expect((await server.alice.post(`${pods}?dryRun=All`, pod)).status).toBe(201);
  const denied = await server.alice.post(`${pods}?dryRun=All`, pod, ask);
  expect([denied.status, denied.json.message]).toEqual([403, expect.stringContaining('cannot explain resource "pods"')]);
  const verbs = ['create', 'explain'];
  await server.admin.ok('PUT', `${rbac}/${ns}/roles/r`, { ...role, rules: [{ apiGroups: [''], resources: ['pods'], verbs }] });
  expect((await server.alice.post(`${pods}?dryRun=All`, pod, ask)).headers['x-plat-explain']).toBeDefined();
});

test('plug-ins are switched by flags, and a configuration that makes no sense keeps the server from starting', async () => {
  const own = await startTestServer({
    enableAdmissionPlugins: ['AlwaysPullImages'],
    disableAdmissionPlugins: ['ServiceAccount', 'Priority'],
    controllers: [],
  });
  try {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
    const { json: body } = await own.admin.post('/api/v1/namespaces/default/pods', pod);
    expect(body.spec.containers[0].imagePullPolicy).toBe('Always');
    expect([body.spec.serviceAccountName, body.spec.priority]).toEqual([undefined, undefined]);
  } finally {
    await own.close();
  }
  const errors: string[] = [];
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  await expect(startTestServer({ enableAdmissionPlugins: ['EventRateLimit'], log })).rejects.toThrow(
    /admission plug-in EventRateLimit: .*needs a configuration/,
  );
  // What is wrong is reported once, and nothing of what is ended because of it.
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([]);
});

const junk = { allowed: true, patchType: 'JSONPatch', patch: 'W3s*!' };
const foreign = { allowed: true, patchType: 'MergePatch', patch: Buffer.from('{"data":{"x":"y"}}').toString('base64') };
test.each([
  ['Fail', junk, 400],
  ['Fail', foreign, 400],
  ['Ignore', junk, 201],
  ['Ignore', foreign, 201],
] as const)('finding 33: under %s a bad answer %j is answered with %i', async (failurePolicy, response, status) => {
  const namespace = await server.namespace();
  const [hook, end] = await configured('mutating', namespace, () => response, { failurePolicy });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const answer = await server.admin.post(path, { metadata: { name: 'c' }, data: { a: '1' } });
  await end();
  expect(hook.calls).toHaveLength(1);
  expect(answer.status, answer.text).toBe(status);
  if (status === 400) {
    expect(answer.json).toMatchObject({ reason: 'BadRequest', message: expect.stringContaining('.example.test"') });
    expect((await server.admin.get(`${path}/c`)).status).toBe(404);
  } else expect(answer.json.data).toEqual({ a: '1' });
});
