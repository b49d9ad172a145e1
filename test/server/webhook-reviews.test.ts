/** What admission webhooks are sent about namespaces, objects of the cluster, deletions and collections, as a stock server sends it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identities } from '../../packages/meta/src/identity.ts';
import type { JsonObject } from '../../packages/schema/src/types.ts';
import { caBundle, patched, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const merge = { 'content-type': 'application/merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const labels = { reviewed: 'yes' };

describe.each(['plat', 'kubernetes'])('as %s', (name) => {
  const identity = identities[name] as NonNullable<(typeof identities)[string]>;
  const group = (base: string) => `${base}.${identity.groupSuffix}`;
  const configurations = `/apis/${group('admissionregistration')}/v1`;
  const roles = `/apis/${group('rbac.authorization')}/v1/clusterroles`;
  const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
  let server: TestServer;
  let hook: TestWebhook;
  /** What the mutating webhook answers besides its consent. */
  let answer: JsonObject = {};
  beforeAll(async () => {
    // Controllers would write the same objects.
    server = await startTestServer({ identity: name, controllers: ['-*'], direct: name === 'plat' });
    hook = await startWebhook(({ request }) => (request.operation === 'DELETE' ? { allowed: true } : { allowed: true, ...answer }));
    for (const sort of ['mutating', 'validating'])
      await server.admin.ok('POST', `${configurations}/${sort}webhookconfigurations`, {
        metadata: { name: 'all' },
        webhooks: [
          {
            name: `${sort}.example.com`,
            clientConfig: { url: `${hook.url}/${sort}`, caBundle },
            rules: [rule],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            objectSelector: { matchLabels: labels },
          },
        ],
      });
  });
  afterAll(async () => {
    await hook.close();
    await server.close();
  });

  interface Seen {
    readonly mutating: Loose;
    readonly validating: Loose;
    readonly answered: Loose;
    readonly status: number;
  }
  /** Sends a request; answers its two reviews. Undefined where there was none. */
  async function reviews(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Seen> {
    hook.calls.length = 0;
    const { status, json } = await server.admin.send(method, path, { headers, ...(body !== undefined && { body }) });
    // What the server itself writes meanwhile, as for a definition that is deleted, is reviewed as well.
    const requests = hook.calls.filter(({ review }) => (review.request.userInfo as Loose).username !== 'system:apiserver');
    const of = (sort: string) => requests.filter((call) => call.path.includes(`/${sort}`)).map((call) => call.review.request);
    const [mutating, validating] = [of('mutating'), of('validating')];
    expect([mutating.length, validating.length].every((count) => count < 2)).toBe(true);
    return { mutating: mutating[0], validating: validating[0], answered: json, status };
  }
  const typed = (plural: string, of: Loose) => {
    const at = plural.endsWith('roles') ? group('rbac.authorization') : '';
    const kind = { group: at, version: 'v1', kind: of };
    const resource = { group: at, version: 'v1', resource: plural };
    return { kind, resource, requestKind: kind, requestResource: resource };
  };
  const options = (kind: string, more: object = {}) => ({ kind, apiVersion: `${group('meta')}/v1`, ...more });

  test('a namespace is in itself, on every verb and subresource', async () => {
    const path = '/api/v1/namespaces';
    const created = await reviews('POST', path, { metadata: { name: 'a', labels } });
    const both = { ...typed('namespaces', 'Namespace'), name: 'a', namespace: 'a', dryRun: false };
    for (const review of [created.mutating, created.validating])
      expect(review).toMatchObject({ ...both, operation: 'CREATE', oldObject: null, options: options('CreateOptions') });
    expect(created.mutating.object).toMatchObject({ spec: {}, status: { phase: 'Active' } });
    expect(created.mutating.object.metadata.uid).toBeUndefined();
    expect(created.validating.object).toMatchObject({
      metadata: { uid: created.answered.metadata.uid },
      spec: { finalizers: [identity.word] },
    });
    const updated = await reviews('PATCH', `${path}/a`, { metadata: { annotations: { note: '1' } } }, merge);
    expect(updated.validating).toMatchObject({ ...both, operation: 'UPDATE', options: options('UpdateOptions') });
    for (const subresource of ['status', 'finalize']) {
      const body = await server.admin.ok('GET', `${path}/a`);
      const { validating } = await reviews('PUT', `${path}/a/${subresource}`, body);
      expect(validating).toMatchObject({ ...both, operation: 'UPDATE', subResource: subresource, requestSubResource: subresource });
    }
    const applied = await reviews(
      'PATCH',
      `${path}/b?fieldManager=me`,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'b', labels } },
      apply,
    );
    expect(applied.validating).toMatchObject({
      operation: 'CREATE',
      name: 'b',
      namespace: 'b',
      options: options('CreateOptions', { fieldManager: 'me' }),
    });
  });

  test('a name that is generated is not known when the request comes: the namespace of the review stays empty', async () => {
    const { mutating, validating, answered } = await reviews('POST', '/api/v1/namespaces', { metadata: { generateName: 'gen-', labels } });
    expect([mutating.name, mutating.namespace]).toEqual([undefined, undefined]);
    expect([validating.name, validating.namespace]).toEqual([answered.metadata.name, undefined]);
    const both = await reviews('POST', '/api/v1/namespaces', { metadata: { name: 'given', generateName: 'gen-', labels } });
    expect([both.validating.name, both.validating.namespace]).toEqual(['given', 'given']);
  });

  test('the deletion of a namespace names its uid; once it is under way nobody is asked again', async () => {
    const path = '/api/v1/namespaces/going';
    const { metadata } = await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'going', labels } });
    const dry = await reviews('DELETE', `${path}?dryRun=All`);
    expect(dry.validating).toMatchObject({ dryRun: true, options: { dryRun: ['All'], preconditions: { uid: metadata.uid } } });
    const deleted = await reviews('DELETE', path, { propagationPolicy: 'Foreground' });
    for (const review of [deleted.mutating, deleted.validating]) {
      expect(review).toMatchObject({
        operation: 'DELETE',
        name: 'going',
        namespace: 'going',
        object: null,
        oldObject: { metadata: { uid: metadata.uid } },
      });
      expect(review.options).toEqual(options('DeleteOptions', { propagationPolicy: 'Foreground', preconditions: { uid: metadata.uid } }));
      expect(review.oldObject.metadata.deletionTimestamp).toBeUndefined();
    }
    const again = await reviews('DELETE', path);
    expect([again.status, again.mutating, again.validating]).toEqual([200, undefined, undefined]);
    expect(again.answered.status.phase).toBe('Terminating');
  });

  test('the deletion of a definition names its uid', async () => {
    const path = `/apis/${group('apiextensions')}/v1/customresourcedefinitions`;
    const schema = { openAPIV3Schema: { type: 'object' } };
    const { metadata } = await server.admin.ok('POST', path, {
      metadata: { name: 'cogs.example.com', labels },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'cogs', singular: 'cog', kind: 'Cog' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const { validating } = await reviews('DELETE', `${path}/cogs.example.com`);
    expect(validating.options).toEqual(options('DeleteOptions', { preconditions: { uid: metadata.uid } }));
    expect(validating.namespace).toBeUndefined();
  });

  test('the deletion of a pod shows the time that it has; one under way that stays as it is, is not reviewed', async () => {
    const space = `/api/v1/namespaces/${await server.namespace()}`;
    const pods = `${space}/pods`;
    await server.admin.ok('POST', `${space}/serviceaccounts`, { metadata: { name: 'default' } });
    const pod = (spec: object) => ({ metadata: { name: 'p', labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
    await server.admin.ok('POST', pods, pod({}));
    // It runs nowhere.
    expect((await reviews('DELETE', `${pods}/p`)).validating.options).toEqual(options('DeleteOptions', { gracePeriodSeconds: 0 }));
    await server.admin.ok('POST', pods, pod({ nodeName: 'n', terminationGracePeriodSeconds: 40 }));
    expect((await reviews('DELETE', `${pods}/p?dryRun=All&gracePeriodSeconds=-5`)).validating.options.gracePeriodSeconds).toBe(1);
    expect((await reviews('DELETE', `${pods}/p`)).validating.options).toEqual(options('DeleteOptions', { gracePeriodSeconds: 40 }));
    expect((await reviews('DELETE', `${pods}/p`)).validating).toBeUndefined();
    expect((await reviews('DELETE', `${pods}/p?gracePeriodSeconds=60`)).mutating).toBeUndefined();
    const shorter = await reviews('DELETE', `${pods}/p?gracePeriodSeconds=7`);
    expect(shorter.validating).toMatchObject({
      options: { gracePeriodSeconds: 7 },
      oldObject: { metadata: { deletionGracePeriodSeconds: 40 } },
    });
    // The options of a collection are those of all its objects.
    const all = await reviews('DELETE', `${pods}?gracePeriodSeconds=0`);
    expect(all.validating).toMatchObject({ options: options('DeleteOptions', { gracePeriodSeconds: 0 }) });
    expect(all.validating.name).toBeUndefined();
  });

  test('objects of the cluster have no namespace; lists that were sent empty are shown empty, and stored ones as null', async () => {
    const both = { ...typed('clusterroles', 'ClusterRole'), name: 'r' };
    const created = await reviews('POST', roles, { metadata: { name: 'r', labels }, rules: [] });
    for (const review of [created.mutating, created.validating]) {
      expect(review).toMatchObject({ ...both, operation: 'CREATE', object: { rules: [] }, oldObject: null });
      expect(review).not.toHaveProperty('namespace');
      expect(review.object.metadata).not.toHaveProperty('namespace');
    }
    expect(created.answered.rules).toBeNull();
    const replaced = await reviews('PUT', `${roles}/r`, { metadata: { name: 'r', labels } });
    expect(replaced.validating).toMatchObject({ ...both, operation: 'UPDATE', object: { rules: null }, oldObject: { rules: null } });
    const emptied = await reviews('PATCH', `${roles}/r`, { rules: [] }, merge);
    expect(emptied.validating).toMatchObject({ object: { rules: [] }, oldObject: { rules: null } });
    const made = await reviews('PUT', `${roles}/made`, {
      metadata: { name: 'made', labels },
      rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    });
    expect([made.status, made.validating.operation, made.validating.name]).toEqual([201, 'CREATE', 'made']);
    const deleted = await reviews('DELETE', `${roles}/made`);
    expect(deleted.validating).toMatchObject({ operation: 'DELETE', name: 'made', object: null, options: options('DeleteOptions') });
    expect(deleted.validating.options).toEqual(options('DeleteOptions'));
    const collection = await reviews('DELETE', `${roles}?labelSelector=reviewed`);
    expect(collection.validating).toMatchObject({ operation: 'DELETE', oldObject: { metadata: { name: 'r' } } });
    expect(collection.validating).not.toHaveProperty('name');
  });

  test('a patch may add to a list that was sent empty', async () => {
    const { patch, patchType } = patched({ op: 'add', path: '/rules/-', value: { verbs: ['get'], nonResourceURLs: ['/y'] } });
    answer = { patch, patchType } as JsonObject;
    // The same answer is none for a validating webhook, which is not asked here.
    const path = `${configurations}/validatingwebhookconfigurations/all`;
    const without = await server.admin.send('PATCH', path, { headers: merge, body: { webhooks: null } });
    expect(without.status).toBe(200);
    const { answered } = await reviews('POST', roles, { metadata: { name: 'filled', labels }, rules: [] });
    expect(answered.rules).toEqual([{ verbs: ['get'], nonResourceURLs: ['/y'] }]);
  });
});
