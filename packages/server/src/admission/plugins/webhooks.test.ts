/** The two webhook plug-ins, with real HTTPS servers on loopback. */

import { jsonText } from '@plat-dev/lib/json-text';
import { ApiError } from '@plat-dev/meta/errors';
import { afterEach, expect, test } from 'vitest';
import { RequestTiming } from '../../request-timing.ts';
import { admissionChain } from '../chain.ts';
import { Explanation } from '../explanation.ts';
import { refusalOf, servedKind, World } from '../testing.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../types.ts';
import { warnUnasked } from '../webhooks/dispatch.ts';
import { caBundle, patched, type Reply, startWebhook, type TestWebhook } from '../webhooks/testing.ts';
import { mutatingAdmissionWebhook } from './mutating-webhook.ts';
import { limitRanger } from './pods/limit-ranger.ts';
import { validatingAdmissionWebhook } from './validating-webhook.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function webhook(reply: Reply): Promise<TestWebhook> {
  const started = await startWebhook(reply);
  open.push(() => started.close());
  return started;
}
const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
const entry = (name: string, { url }: { url: string }, more: object = {}) => ({
  name,
  clientConfig: { url, caBundle },
  rules: [all],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  timeoutSeconds: 5,
  ...more,
});

async function world(sort: 'mutating' | 'validating', ...entries: object[]): Promise<{ world: World; plugin: AdmissionPlugin }> {
  const made = new World().with('namespaces', { metadata: { name: 'ns' } });
  if (entries.length > 0)
    made.with(`admissionregistration/${sort}webhookconfigurations`, { metadata: { name: 'conf' }, webhooks: entries });
  const plugin = await made.plugin(sort === 'mutating' ? mutatingAdmissionWebhook : validatingAdmissionWebhook);
  open.push(() => plugin.close?.());
  return { world: made, plugin };
}
const cm = (data: Record<string, string> = { a: '1' }, labels?: object) => ({
  metadata: { name: 'c', namespace: 'ns', ...(labels && { labels }) },
  data,
});
const dataOf = (request: AdmissionRequest) => (request.object as unknown as { data: Record<string, string> }).data;
const add = (path: string, value: unknown) => patched({ op: 'add', path, value: value as string });
const text = (metrics: World['metrics'], name: string) =>
  metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`));

// ---- both --------------------------------------------------------------------------------------------------------

test.each(['mutating', 'validating'] as const)('without a %s webhook nothing is awaited', async (sort) => {
  const { world: quiet, plugin } = await world(sort);
  const request = quiet.request('configmaps', cm());
  expect(sort === 'mutating' ? plugin.admit?.(request) : plugin.validate?.(request)).toBeUndefined();
});

test.each(['mutating', 'validating'] as const)(
  'a %s webhook is asked as soon as it is configured, and no longer than it is',
  async (sort) => {
    const hook = await webhook(() => ({ allowed: false }));
    const { world: given, plugin } = await world(sort);
    const ask = () => refusalOf(plugin, given.request('configmaps', cm()));
    expect(await ask()).toBeUndefined();
    const kind = `admissionregistration/${sort}webhookconfigurations`;
    given.with(kind, { metadata: { name: 'conf' }, webhooks: [entry('a.b.c', hook)] });
    expect(await ask()).toMatch(/denied the request without explanation/);
    given.with(kind, { metadata: { name: 'conf' }, webhooks: [] });
    expect(await ask()).toBeUndefined();
  },
);

test('a denial has the code, the reason and the text of the webhook', async () => {
  const hook = await webhook(() => ({
    allowed: false,
    status: { code: 418, reason: 'Teapot', message: 'short and stout' },
    warnings: ['hot'],
  }));
  const { world: given, plugin } = await world('validating', entry('tea.example.test', hook));
  const error = await Promise.resolve(plugin.validate?.(given.request('configmaps', cm()))).catch((e: unknown) => e as ApiError);
  expect(error).toMatchObject({
    code: 418,
    reason: 'Teapot',
    message: 'admission webhook "tea.example.test" denied the request: short and stout',
  });
  expect(given.warnings).toEqual(['hot']);
  expect(text(given.metrics, 'apiserver_admission_webhook_rejection_count')).toEqual([
    'apiserver_admission_webhook_rejection_count{error_type="no_error",name="tea.example.test",operation="CREATE",rejection_code="418",type="validating"} 1',
  ]);
});

test('a rejection code beyond 600 is counted as 600', async () => {
  const hook = await webhook(() => ({ allowed: false, status: { code: 999 } }));
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook));
  await refusalOf(plugin, given.request('configmaps', cm()));
  expect(text(given.metrics, 'apiserver_admission_webhook_rejection_count')[0]).toContain('rejection_code="600",type="admit"');
});

test('a refusal of the server itself is not counted as one of the webhook, a denial always is', async () => {
  const hook = await webhook(() => ({ allowed: false, status: { code: 500, reason: 'InternalError' } }));
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook, { sideEffects: 'Some' }));
  await refusalOf(plugin, given.request('configmaps', cm(), { dryRun: true }));
  await refusalOf(plugin, given.request('configmaps', cm()));
  expect(text(given.metrics, 'apiserver_admission_webhook_rejection_count')).toEqual([
    expect.stringMatching(/error_type="apiserver_internal_error",.*rejection_code="0"/),
    expect.stringMatching(/error_type="no_error",.*rejection_code="500"/),
  ]);
});

test('audit annotations have the form that readers count on', async () => {
  const hook = await webhook(() => ({ allowed: true, auditAnnotations: { good: '1', 'not good': '2', 'a/b': '3', '': '4' } }));
  const { world: given, plugin } = await world('validating', entry('a.b.c', hook));
  await refusalOf(plugin, given.request('configmaps', cm()));
  expect([...given.annotations]).toEqual([['a.b.c/good', '1']]);
});

const lies: [string, Reply, RegExp][] = [
  ['another uid', () => ({ uid: 'other', allowed: true }), /expected response.uid/],
  [
    'another version',
    (review, res) =>
      void res.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1beta1',
          kind: 'AdmissionReview',
          response: { uid: review.request.uid, allowed: true },
        }),
      ),
    /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview/,
  ],
  [
    'no response',
    (review, res) => void res.end(JSON.stringify({ apiVersion: review.apiVersion, kind: 'AdmissionReview' })),
    /webhook response was absent/,
  ],
  ['no JSON', (_review, res) => void res.end('hello'), /failed to call webhook/],
  ['nothing', (_review, res) => void res.end(), /0-length response/],
  ['an error', (_review, res) => void res.writeHead(500).end('oops'), /an error on the server/],
  ['a redirect', (_review, res) => void res.writeHead(302, { location: 'https://127.0.0.1:1/' }).end(), /status 302/],
  ['a wrong type', () => ({ allowed: 'yes' }), /response.allowed must be true or false/],
  ['hanging up', (_review, res) => void res.socket?.destroy(), /failed to call webhook/],
];
test.each(lies)('an answer with %s fails the request, unless failures are ignored', async (_what, reply, why) => {
  const hook = await webhook(reply);
  for (const sort of ['mutating', 'validating'] as const) {
    const { world: strict, plugin } = await world(sort, entry('a.b.c', hook));
    const refused = await refusalOf(plugin, strict.request('configmaps', cm()));
    expect(refused).toMatch(/^Internal error occurred: failed calling webhook "a.b.c": /);
    expect(refused).toMatch(why);
    const { world: lax, plugin: open } = await world(sort, entry('a.b.c', hook, { failurePolicy: 'Ignore' }));
    expect(await refusalOf(open, lax.request('configmaps', cm()))).toBeUndefined();
    expect(text(lax.metrics, 'apiserver_admission_webhook_fail_open_count')).toHaveLength(1);
  }
});

test('a dry run is refused where the webhook has side effects', async () => {
  const hook = await webhook(() => ({ allowed: true }));
  const { world: given, plugin } = await world('validating', entry('a.b.c', hook, { sideEffects: 'Some' }));
  expect(await refusalOf(plugin, given.request('configmaps', cm(), { dryRun: true }))).toBe(
    'admission webhook "a.b.c" does not support dry run',
  );
  expect(await refusalOf(plugin, given.request('configmaps', cm()))).toBeUndefined();
  expect(hook.calls).toHaveLength(1);
});

test('the version of the review is the first in the list that the server speaks', async () => {
  const hook = await webhook((review) => ({ allowed: false, status: { message: review.apiVersion } }));
  const { world: given, plugin } = await world('validating', entry('a.b.c', hook, { admissionReviewVersions: ['v9', 'v1beta1', 'v1'] }));
  expect(await refusalOf(plugin, given.request('configmaps', cm()))).toMatch(/admission.k8s.io\/v1beta1/);
  const { world: other, plugin: unspoken } = await world('validating', entry('a.b.c', hook, { admissionReviewVersions: ['v9'] }));
  expect(await refusalOf(unspoken, other.request('configmaps', cm()))).toMatch(/does not accept known AdmissionReview versions/);
});

// ---- validating --------------------------------------------------------------------------------------------------

test('validating webhooks are called at once, and the first denial in order is reported', async () => {
  const waiting: (() => void)[] = [];
  const together: Reply = () => new Promise((resolve) => waiting.push(() => resolve({ allowed: false })));
  const [one, two] = [await webhook(together), await webhook(together)];
  const { world: given, plugin } = await world('validating', entry('first.b.c', one), entry('second.b.c', two));
  const judging = refusalOf(plugin, given.request('configmaps', cm()));
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  for (const release of waiting.reverse()) release();
  expect(await judging).toMatch(/"first.b.c" denied/);
});

test('an Equivalent webhook sees the request in its own version', async () => {
  const hook = await webhook(() => ({ allowed: true }));
  const rules = [{ operations: ['CREATE'], apiGroups: ['policy'], apiVersions: ['v1beta1'], resources: ['poddisruptionbudgets'] }];
  const { world: given, plugin } = await world('validating', entry('a.b.c', hook, { rules }));
  await refusalOf(
    plugin,
    given.request('policy/poddisruptionbudgets', { metadata: { name: 'p', namespace: 'ns' }, spec: { maxUnavailable: 1 } }),
  );
  expect(hook.calls[0]?.review.request).toMatchObject({
    kind: { group: 'policy', version: 'v1beta1', kind: 'PodDisruptionBudget' },
    requestKind: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
    object: { apiVersion: 'policy/v1beta1', spec: { maxUnavailable: 1 } },
  });
});

// ---- mutating ----------------------------------------------------------------------------------------------------

const trail =
  (mark: string): Reply =>
  ({ request }) =>
    add('/data/trail', `${(request.object as unknown as { data: { trail?: string } }).data.trail ?? ''}${mark}`);

test('mutating webhooks run one after the other, each on what those before made', async () => {
  const [a, b] = [await webhook(trail('a')), await webhook(trail('b'))];
  const { world: given, plugin } = await world('mutating', entry('a.b.c', a), entry('b.b.c', b));
  const request = given.request('configmaps', cm());
  await refusalOf(plugin, request);
  expect(dataOf(request)).toEqual({ a: '1', trail: 'ab' });
  expect(JSON.parse(given.annotations.get('mutation.webhook.admission.k8s.io/round_0_index_1') as string)).toEqual({
    configuration: 'conf',
    webhook: 'b.b.c',
    mutated: true,
  });
  expect(JSON.parse(given.annotations.get('patch.webhook.admission.k8s.io/round_0_index_0') as string)).toEqual({
    configuration: 'conf',
    webhook: 'a.b.c',
    patch: [{ op: 'add', path: '/data/trail', value: 'a' }],
    patchType: 'JSONPatch',
  });
});

test('IfNeeded is asked again when a later one changed the object, together with the plug-ins', async () => {
  const [w, x, y] = [await webhook(trail('w')), await webhook(trail('x')), await webhook(() => ({ allowed: true }))];
  const again = { reinvocationPolicy: 'IfNeeded' };
  const { world: given, plugin } = await world('mutating', entry('w.b.c', w, again), entry('x.b.c', x), entry('y.b.c', y, again));
  const request = given.request('configmaps', cm());
  let ran = 0;
  const counter: AdmissionPlugin = { name: 'counter', handles: () => true, admit: () => void ran++ };
  await admissionChain([counter, plugin]).admit(request);
  expect(dataOf(request).trail).toBe('wxw');
  // The last one is asked again, too, because the first changed the object once more.
  expect([w.calls.length, x.calls.length, y.calls.length, ran]).toEqual([2, 1, 2, 2]);
});

test('what a plug-in changes between the rounds is shown to those that ask for it', async () => {
  const first = await webhook(() => ({ allowed: true }));
  const sidecar = await webhook(() => add('/spec/containers/-', { name: 'side', image: 'side' }));
  const { world: given, plugin } = await world(
    'mutating',
    entry('first.b.c', first, { reinvocationPolicy: 'IfNeeded' }),
    entry('side.b.c', sidecar),
  );
  given.with('limitranges', { metadata: { name: 'l', namespace: 'ns' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } });
  const chain = admissionChain([await given.plugin(limitRanger), plugin]);
  const request = given.request('pods', { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  await chain.admit(request);
  const containers = (request.object as unknown as { spec: { containers: { imagePullPolicy: string; resources: object }[] } }).spec
    .containers;
  // The sidecar was completed by defaults and then by the plug-in.
  expect(containers[1]).toMatchObject({ imagePullPolicy: 'Always', resources: { limits: { cpu: '1' } } });
  const seen = first.calls.map(
    ({ review }) => (review.request.object as unknown as { spec: { containers: unknown[] } }).spec.containers.length,
  );
  expect(seen).toEqual([1, 2]);
});

test('an object that begins to match is shown to later webhooks, one that already passed is not asked anew', async () => {
  const labels = await webhook(() => add('/metadata/labels', { next: 'yes' }));
  const [early, late] = [await webhook(trail('early')), await webhook(trail('late'))];
  const only = { objectSelector: { matchLabels: { next: 'yes' } } };
  const again = { reinvocationPolicy: 'IfNeeded', ...only };
  const { world: given, plugin } = await world(
    'mutating',
    entry('early.b.c', early, again),
    entry('labels.b.c', labels),
    entry('late.b.c', late, only),
  );
  const request = given.request('configmaps', cm());
  await admissionChain([plugin]).admit(request);
  expect(dataOf(request).trail).toBe('late');
  expect(early.calls).toHaveLength(0);
});

const bad = (patch: Record<string, unknown>) => ({ ...add('/data/x', 'y'), ...patch });
const letters = add('/data/x', 'y').patch as string;
test.each([
  ['is not a list', bad({ patch: Buffer.from('{}').toString('base64') }), /cannot unmarshal object/],
  ['is not JSON', bad({ patch: Buffer.from('hello').toString('base64') }), /is not a JSON patch: .*invalid character 'h'/],
  ['has junk inside its base64', bad({ patch: letters.replace(/^..../, '$&*!') }), /response.patch is not base64/],
  ['is cut short', bad({ patch: letters.replace(/=*$/, '').slice(0, -1) }), /response.patch is not base64/],
  ['is of another type', bad({ patchType: 'MergePatch' }), /response.patchType "MergePatch" is not supported, it must be "JSONPatch"/],
  [
    'is of another type in the other form',
    bad({ patchType: 'MergePatch', patch: Buffer.from('{"data":{}}').toString('base64') }),
    /response.patchType "MergePatch" is not supported/,
  ],
])('a patch that %s is a bad answer: the failure policy decides', async (_what, response, why) => {
  const hook = await webhook(() => response as never);
  const open = await world('mutating', entry('a.b.c', hook, { failurePolicy: 'Ignore' }));
  const ignored = open.world.request('configmaps', cm());
  expect(await refusalOf(open.plugin, ignored)).toBeUndefined();
  expect(dataOf(ignored)).toEqual({ a: '1' });
  expect([...open.world.annotations.keys()]).toContain('failed-open.mutating.webhook.admission.k8s.io/round_0_index_0');
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook, { failurePolicy: 'Fail' }));
  const request = given.request('configmaps', cm());
  const error = await Promise.resolve(plugin.admit?.(request)).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect((error as Error).message).toMatch(/^failed calling webhook "a.b.c": received invalid webhook response: /);
  expect((error as Error).message).toMatch(why);
  expect(dataOf(request)).toEqual({ a: '1' });
});

test.each([
  [
    'touches a missing path',
    patched({ op: 'add', path: '/data/y', value: '' }, { op: 'remove', path: '/data/zz' }),
    /operation 1 \(remove \/data\/zz\)/,
  ],
  ['makes a field of a wrong type', add('/data/n', 5), /data/],
  ['changes the kind', patched({ op: 'replace', path: '/kind', value: 'Secret' }), /makes a v1 Secret of a v1 ConfigMap/],
])('a patch that %s fails the request even where failures are ignored', async (_what, response, why) => {
  const hook = await webhook(() => response);
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook, { failurePolicy: 'Ignore' }));
  const request = given.request('configmaps', cm());
  const error = await Promise.resolve(plugin.admit?.(request)).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect((error as Error).message).toMatch(/the patch of admission webhook "a.b.c" cannot be used: /);
  expect((error as Error).message).toMatch(why);
  expect(dataOf(request)).toEqual({ a: '1' });
});

test('a deletion can be denied and not patched', async () => {
  const hook = await webhook(() => add('/data/x', 'y'));
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook));
  expect(await refusalOf(plugin, given.request('configmaps', undefined, { old: cm() }))).toMatch(
    /attempted to modify the object, which is not supported/,
  );
});

test('the object of an action is reviewed as what it is, and can be patched', async () => {
  const hook = await webhook(() => patched({ op: 'add', path: '/command', value: ['true'] }));
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook));
  const options = { command: ['rm'], container: 'c' };
  const request = given.request('pods', options, {
    operation: 'CONNECT',
    subresource: 'exec',
    namespace: 'ns',
    objectKind: { group: '', version: 'v1', kind: 'PodExecOptions' },
  });
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(hook.calls[0]?.review.request).toMatchObject({
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'exec',
    operation: 'CONNECT',
    object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['rm'], container: 'c' },
    options: null,
  });
  expect(request.object).toMatchObject({ command: ['true'], container: 'c' });
});

test('a patch in another version comes back to the stored one', async () => {
  const hook = await webhook(() => add('/spec/maxUnavailable', '25%'));
  const rules = [{ operations: ['CREATE'], apiGroups: ['policy'], apiVersions: ['v1beta1'], resources: ['poddisruptionbudgets'] }];
  const { world: given, plugin } = await world('mutating', entry('a.b.c', hook, { rules }));
  const request = given.request('policy/poddisruptionbudgets', { metadata: { name: 'p', namespace: 'ns' }, spec: { maxUnavailable: 1 } });
  await refusalOf(plugin, request);
  expect(request.object).toMatchObject({
    apiVersion: servedKind('policy/poddisruptionbudgets').apiVersion,
    spec: { maxUnavailable: '25%' },
  });
});

test('an explanation tells of every call', async () => {
  const [good, bad] = [await webhook(trail('a')), await webhook((_review, res) => void res.socket?.destroy())];
  const { world: given, plugin } = await world('mutating', entry('good.b.c', good), entry('bad.b.c', bad, { failurePolicy: 'Ignore' }));
  const explanation = new Explanation();
  await admissionChain([plugin]).admit({ ...given.request('configmaps', cm()), explanation });
  const [first, second, whole] = explanation.steps;
  expect(first).toMatchObject({
    step: 'MutatingAdmissionWebhook/conf/good.b.c',
    changes: { operations: [{ op: 'add', path: '/data/trail' }] },
  });
  expect(second?.note).toMatch(/failed and was passed over/);
  expect(whole).toMatchObject({ step: 'MutatingAdmissionWebhook', changes: { operations: [{ op: 'add', path: '/data/trail' }] } });
});

test.each(['mutating', 'validating'] as const)(
  'a %s webhook is called with the trace of the request, and its time is noted',
  async (sort) => {
    const hook = await webhook(() => ({ allowed: true }));
    const { world: given, plugin } = await world(sort, entry('a.b.c', hook));
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    for (const sent of [traceparent, undefined]) {
      const timing = new RequestTiming();
      const request = { ...given.request('configmaps', cm()), traceparent: () => sent, timing };
      await (sort === 'mutating' ? plugin.admit?.(request) : plugin.validate?.(request));
      expect(hook.calls.at(-1)?.headers.traceparent).toBe(sent);
      expect(timing.steps(0, 0)).toContainEqual({
        name: 'webhook',
        webhook: 'a.b.c',
        began: expect.any(Number),
        millis: expect.any(Number),
      });
    }
  },
);

test('a call with a bundle that is no PEM says so', async () => {
  const hook = await webhook(() => ({ allowed: true }));
  const clientConfig = { url: hook.url, caBundle: Buffer.from('junk').toString('base64') };
  const { world: given, plugin } = await world('validating', entry('a.b.c', hook, { clientConfig }));
  expect(await refusalOf(plugin, given.request('configmaps', cm()))).toMatch(
    /failed calling webhook "a.b.c": failed to call webhook: the caBundle is malformed: it holds no PEM certificate/,
  );
});

test('configurations of a kind that is not served are not consulted, and counted at the start; so are those without their plug-in', async () => {
  const hook = await webhook(() => ({ allowed: false }));
  const given = new World().with('admissionregistration/validatingwebhookconfigurations', {
    metadata: { name: 'c' },
    webhooks: [entry('a.b.c', hook)],
  });
  const warned: string[] = [];
  Object.assign(given.env.log, { warn: (message: string, details: object) => void warned.push(`${message} ${jsonText(details)}`) });
  warnUnasked(given.env, 'ValidatingAdmissionWebhook', 'validatingwebhookconfigurations');
  expect(warned.splice(0)).toEqual([expect.stringMatching(/^webhook configurations are served, but not called.*"ignored":1/)]);
  Object.assign(given.env, {
    serves: (_group: string, plural: string) => plural !== 'validatingwebhookconfigurations',
  });
  const plugin = await given.plugin(validatingAdmissionWebhook);
  open.push(() => plugin.close?.());
  expect(await refusalOf(plugin, given.request('configmaps', cm()))).toBeUndefined();
  expect(hook.calls).toHaveLength(0);
  warnUnasked(given.env, 'ValidatingAdmissionWebhook', 'validatingwebhookconfigurations');
  expect(warned).toEqual([expect.stringMatching(/^webhook configurations are not served and not called .*"ignored":1/)]);
});

test.each([
  ['validating', { patchType: 'JSONPatch' }, /a validating webhook may not return response.patchType/],
  ['validating', { patchType: '' }, /a validating webhook may not return response.patchType/],
  ['mutating', { patchType: '' }, /webhook returned response.patchType but not response.patch/],
  ['mutating', { ...add('/data/x', 'y'), patchType: null }, /webhook returned response.patch but not response.patchType/],
] as const)('a %s webhook that answers %j is at fault', async (sort, response, why) => {
  const hook = await webhook(() => ({ allowed: true, ...response }) as never);
  const { world: given, plugin } = await world(sort, entry('a.b.c', hook));
  expect(await refusalOf(plugin, given.request('configmaps', cm()))).toMatch(why);
  const { world: older, plugin: lenient } = await world(sort, entry('a.b.c', hook, { admissionReviewVersions: ['v1beta1'] }));
  expect(await refusalOf(lenient, older.request('configmaps', cm()))).toBeUndefined();
});
