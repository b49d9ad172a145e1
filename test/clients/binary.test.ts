/**
 * A client that speaks only the binary form uses every built-in resource in every version, and sees field by field what a client
 * sees that speaks JSON.
 */

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { expectEqual } from '../../packages/lib/src/testing/expect-equal.testing.ts';
import { groupName, type Identity, identities, kubernetes } from '../../packages/meta/src/identity.ts';
import { type BinaryAnswer, BinaryClient, type BinaryObject } from '../support/binary-client.ts';
import { readExamples } from '../support/examples.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { soonBookmark } from '../support/short-waits.ts';

const NAMESPACE = 'shop';
/** How often something is asked again that another writer came between. */
const REPEATS = 20;
const examples = readExamples();

interface Subject {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly kind: ReturnType<typeof builtinKinds>[number];
}
const subjectsOf = (identity: Identity): Subject[] =>
  builtinKinds(identity)
    .filter((kind) => !kind.virtual)
    .flatMap((kind) =>
      Object.keys(kind.versions).map((version) => {
        const group = groupName(identity, kind.group);
        return { apiVersion: group === '' ? version : `${group}/${version}`, group, version, kind };
      }),
    );

const rootOf = (apiVersion: string): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
const collectionOf = ({ apiVersion, kind }: Subject): string =>
  `${rootOf(apiVersion)}${kind.namespaced ? `/namespaces/${NAMESPACE}` : ''}/${kind.plural}`;

/** An example in the words of an identity. */
function inIdentity(object: Loose, identity: Identity): Loose {
  if (identity.name === kubernetes.name) return structuredClone(object);
  const text = jsonText(object)
    .replaceAll(kubernetes.signers.apiserverClient, identity.signers.apiserverClient)
    .replaceAll(kubernetes.domain, identity.domain)
    .replaceAll(kubernetes.groupSuffix, identity.groupSuffix);
  return JSON.parse(text);
}

/** The same object under another name. */
function renamed(object: Loose, n: number, label: string): Loose {
  const { metadata } = object;
  const copy = structuredClone(object);
  copy.metadata = { name: `${metadata.name}-${n}`, labels: { ...metadata.labels, test: label } };
  if (metadata.annotations !== undefined) copy.metadata.annotations = metadata.annotations;
  if (metadata.namespace !== undefined) copy.metadata.namespace = metadata.namespace;
  if (object.kind === 'CustomResourceDefinition') {
    copy.spec.names = { kind: `Voucher${n}`, plural: `vouchers${n}` };
    copy.metadata.name = `vouchers${n}.${object.spec.group}`;
  } else if (object.kind === 'APIService') {
    copy.spec.version = `v1beta${n}`;
    copy.metadata.name = `v1beta${n}.${object.spec.group}`;
  }
  return copy;
}

/** What controllers report, of kinds where that is not refused. */
const reports: Readonly<Record<string, Loose>> = {
  DaemonSet: { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 2, numberReady: 1 },
  Deployment: { observedGeneration: 1, replicas: 2, conditions: [{ type: 'Available', status: 'True', reason: 'R' }] },
  Job: { active: 1 },
  Node: { conditions: [{ type: 'Ready', status: 'True', reason: 'R' }], capacity: { cpu: '4', memory: '8Gi' } },
  Pod: { phase: 'Running', podIP: '192.0.2.7', conditions: [{ type: 'Ready', status: 'True' }] },
  ReplicaSet: { replicas: 2, readyReplicas: 1 },
  ReplicationController: { replicas: 2, readyReplicas: 1 },
  ResourceQuota: { hard: { pods: '50' }, used: { pods: '3' } },
  Service: { loadBalancer: { ingress: [{ ip: '192.0.2.8' }] } },
  StatefulSet: { replicas: 2, readyReplicas: 1 },
};

const isFirstOfVersion = ({ apiVersion }: Subject, i: number, all: readonly Subject[]): boolean =>
  all.findIndex((other) => other.apiVersion === apiVersion) === i;

describe.each(['plat', 'kubernetes'])('the binary form alone, with a %s server', (name) => {
  const identity = identities[name] as Identity;
  const subjects = subjectsOf(identity);
  let server: TestServer;
  let binary: BinaryClient;
  beforeAll(async () => {
    // Few controllers, so that few others write.
    server = await startTestServer({
      ...(name === 'plat' && { historyRules: ['*=never'] }),
      identity: name,
      direct: true,
      controllers: ['serviceaccount'],
      clock: soonBookmark.clock,
    });
    // Most requests are those with stock names, which need no connection, as what they are compared with.
    binary = new BinaryClient(server, name === 'kubernetes' ? server.admin : server.client({ token: 'admin-token', direct: undefined }));
    for (const kind of ['Namespace', 'PriorityClass', 'ServiceAccount']) await json('POST', ...exampleOf(kind));
  });
  afterAll(() => server.close());

  const exampleOf = (kind: string): [string, Loose] => {
    const example = examples.find(({ object }) => object.kind === kind) as (typeof examples)[number];
    return [inIdentity(example.path, identity), inIdentity(example.object, identity)];
  };
  /** The JSON of an answer, good or bad. */
  const json = async (method: string, path: string, body?: Loose): Promise<Loose> =>
    (await server.admin.send(method, path, { ...(body !== undefined && { body }) })).json;
  const good = async (method: string, path: string, body?: Loose): Promise<BinaryObject> => {
    const answer = await binary.send(method, path, body);
    expectEqual([method, path, answer.status < 300, answer.status < 300 ? '' : answer.value], [method, path, true, '']);
    return answer;
  };
  const whole = ({ kind, apiVersion, value }: BinaryObject): Loose => ({ kind, apiVersion, ...structuredClone(value) });
  /** Both forms of an answer say the same, but for fields of the metadata that differ from request to request. */
  const expectSame = (given: BinaryObject, other: Loose, ...without: string[]): void => {
    expectEqual(...comparable(given, other, without));
  };
  const comparable = (given: BinaryObject, other: Loose, without: string[]): [Loose, Loose] => {
    const [one, two] = [binary.plain(given), binary.plainJson(other)];
    for (const object of [one, two]) for (const field of without) delete object.metadata?.[field];
    return [one, two];
  };
  /**
   * The same request in both forms, one that changes nothing, is answered alike. The server itself writes to some objects
   * (definitions, groups behind it): what was written between the two requests is not there when they are repeated.
   */
  const asksAlike = async (status: number, method: string, path: string, body?: Loose, ...without: string[]): Promise<BinaryAnswer> => {
    for (let tries = 1; ; tries++) {
      const answer = await binary.send(method, path, body);
      const other = await json(method, path, body);
      const compared = comparable(answer, other, without);
      if (tries === REPEATS || isDeepStrictEqual(...compared)) {
        expectEqual([method, path, answer.status, answer.status === status ? '' : answer.value], [method, path, status, '']);
        expectEqual(...compared);
        return answer;
      }
    }
  };
  /** Writes a changed object over what is there now. */
  const replace = async (path: string, from: string, change: (object: Loose) => Loose): Promise<BinaryObject> => {
    for (let tries = 1; ; tries++) {
      const body = change(whole(await good('GET', from)));
      const answer = await binary.send('PUT', path, body);
      if (tries < REPEATS && answer.status === 409) continue;
      expect([path, answer.status, answer.status === 200 ? '' : answer.value]).toEqual([path, 200, '']);
      return answer;
    }
  };

  /** A good body of a kind in a version, whose name is still to come. */
  const bodyOf = async ({ apiVersion, kind }: Subject): Promise<Loose> => {
    const found = examples.find(({ served }) => served.kind.group === kind.group && served.kind.plural === kind.plural);
    const object = inIdentity(found?.object, identity);
    if (object.apiVersion === apiVersion) return object;
    // Another version of it is what the server shows.
    const path = (version: string): string => `${rootOf(version)}${kind.namespaced ? `/namespaces/${NAMESPACE}` : ''}/${kind.plural}`;
    const temporary = renamed(object, 9, 'other');
    await server.admin.ok('POST', path(object.apiVersion), temporary);
    const shown = await server.admin.ok('GET', `${path(apiVersion)}/${temporary.metadata.name}`);
    await server.admin.ok('DELETE', `${path(apiVersion)}/${temporary.metadata.name}`);
    const { status: _status, ...rest } = shown;
    return { ...rest, metadata: object.metadata };
  };

  test('every resource that the server offers is used here', async () => {
    const groups = (await server.admin.ok('GET', '/apis')).groups as Loose[];
    const offered = ['v1', ...groups.flatMap((group) => group.versions.map((version: Loose) => version.groupVersion as string))];
    const names: string[] = [];
    for (const apiVersion of offered)
      for (const resource of (await server.admin.ok('GET', rootOf(apiVersion))).resources)
        if (resource.verbs.includes('list') && resource.name !== 'componentstatuses') names.push(`${apiVersion} ${resource.name}`);
    expect(subjects.map(({ apiVersion, kind }) => `${apiVersion} ${kind.plural}`).sort()).toEqual(names.sort());
  });

  // Identities differ in the names of groups, not in fields: with one of them the first resource of every version will do.
  const tried = name === 'kubernetes' ? subjects : subjects.filter(isFirstOfVersion);

  test.each(tried.map((subject) => [`${subject.apiVersion} ${subject.kind.plural}`, subject] as const))('%s', async (_name, subject) => {
    const { kind, apiVersion } = subject;
    const path = collectionOf(subject);
    const label = `${kind.plural}-${subject.version}`;
    const mine = `labelSelector=test%3D${label}`;
    const body = await bodyOf(subject);
    const at = (object: Loose): string => `${path}/${object.metadata.name}`;
    const begin = (await server.admin.ok('GET', `${path}?limit=1`)).metadata.resourceVersion as string;
    const answers: BinaryObject[] = [];

    // Create: by this client, by the other one, and what is refused.
    const first = renamed(body, 1, label);
    answers.push(await good('POST', path, first));
    expect(answers[0]).toMatchObject({ kind: kind.kind, apiVersion });
    const second = await server.admin.ok('POST', path, renamed(body, 2, label));
    answers.push(await good('POST', path, renamed(body, 3, label)));
    await asksAlike(409, 'POST', path, first);
    const misnamed = { kind: kind.kind, apiVersion, metadata: { name: 'a/b' } };
    const refused = await binary.send('POST', path, misnamed);
    expect(refused.status).toBe(422);
    expectSame(refused, await json('POST', path, misnamed));

    // Get, and lists in chunks of one moment.
    await asksAlike(200, 'GET', at(second));
    await asksAlike(404, 'GET', `${path}/none`);
    const moment = (await server.admin.ok('GET', `${path}?limit=1`)).metadata.resourceVersion as string;
    let query = `${mine}&limit=2&resourceVersion=${moment}&resourceVersionMatch=Exact`;
    for (const count of [2, 1]) {
      const page = await asksAlike(200, 'GET', `${path}?${query}`);
      expect(page.value.items).toHaveLength(count);
      query = `${mine}&limit=2&continue=${page.value.metadata.continue}`;
    }
    const all = `${mine}&resourceVersion=${moment}&resourceVersionMatch=Exact`;
    await asksAlike(200, 'GET', `${path}?${all}`);

    // Replace, with the version and against it.
    const noted = (object: Loose): Loose => ({
      ...object,
      metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, by: 'binary' } },
    });
    answers.push(await replace(at(first), at(first), noted));
    const changed = whole(answers.at(-1) as BinaryObject);
    const stale = { ...changed, metadata: { ...changed.metadata, resourceVersion: '1' } };
    await asksAlike(409, 'PUT', at(first), stale);

    // Report the status.
    if (kind.subresources.status?.verbs.includes('update' as never)) {
      await asksAlike(200, 'GET', `${at(first)}/status`);
      const report = reports[kind.kind];
      const reported = (object: Loose): Loose => ({ ...object, status: { ...object.status, ...report } });
      answers.push(await replace(`${at(first)}/status`, at(first), reported));
      if (report !== undefined) expect((await server.admin.ok('GET', at(first))).status).toMatchObject(report);
    }

    // Delete, with options under the version of the group.
    const options = (more: Loose): Loose => ({ kind: 'DeleteOptions', apiVersion, ...more });
    const dry = options({ dryRun: ['All'], propagationPolicy: 'Background' });
    await asksAlike(200, 'DELETE', at(second), dry, 'deletionTimestamp');
    const other = options({ preconditions: { uid: 'another' } });
    await asksAlike(409, 'DELETE', at(second), other);
    await good(
      'DELETE',
      at(second),
      options({ preconditions: { uid: second.metadata.uid }, gracePeriodSeconds: 0, propagationPolicy: 'Background' }),
    );
    if (kind.verbs.includes('deletecollection')) {
      const selected = `${path}?${mine}`;
      await asksAlike(200, 'DELETE', selected, dry, 'resourceVersion');
      const left = (await server.admin.ok('GET', selected)).items.map((item: Loose) => item.metadata.deletionTimestamp);
      expect(left.filter((time: string | undefined) => time === undefined)).toHaveLength(2);
      await good('DELETE', selected, options({ gracePeriodSeconds: 0, propagationPolicy: 'Background' }));
    } else for (const object of [first, renamed(body, 3, label)]) await good('DELETE', at(object), options({ gracePeriodSeconds: 0 }));

    // Watch: the whole story in both forms, and every answer as the story tells it.
    const end = await server.admin.ok('POST', path, renamed(body, 4, label));
    await server.admin.ok('DELETE', at(end), { propagationPolicy: 'Background' });
    const story = `${path}?watch=1&${mine}&resourceVersion=${begin}`;
    const isEnd = (object: Loose): boolean => object.metadata.resourceVersion === end.metadata.resourceVersion;
    const watch = await binary.watch(story);
    const events = await watch.until(({ value }) => isEnd(value));
    watch.close();
    const watchJson = await server.admin.watch(story);
    const eventsJson = await watchJson.until(({ object }) => isEnd(object));
    watchJson.close();
    expectEqual(
      events.map((event) => [event.type, binary.plain(event)]),
      eventsJson.map(({ type, object }) => [type, binary.plainJson(object)]),
    );
    expect(new Set(events.map(({ type }) => type))).toContain('MODIFIED');
    for (const answer of answers) {
      const told = eventsJson.find(({ object }) => object.metadata.resourceVersion === answer.value.metadata.resourceVersion);
      expectSame(answer, told?.object);
    }
  });

  test('bookmarks of every resource', async () => {
    const revision = (await server.admin.ok('GET', '/api/v1/namespaces?limit=1')).metadata.resourceVersion as string;
    const seen = tried.map(async (subject) => {
      const path = `${collectionOf(subject)}?watch=1&allowWatchBookmarks=true&${soonBookmark.query}&resourceVersion=${revision}&labelSelector=no`;
      const [watch, watchJson] = [await binary.watch(path), await server.admin.watch(path)];
      const [bookmark] = await watch.until(({ type }) => type === 'BOOKMARK');
      const [bookmarkJson] = await watchJson.until(({ type }) => type === 'BOOKMARK');
      watch.close();
      watchJson.close();
      expect(Number(bookmark?.value.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(revision));
      expect(bookmark).toMatchObject({ kind: subject.kind.kind, apiVersion: subject.apiVersion });
      expectSame(bookmark as BinaryObject, bookmarkJson?.object, 'resourceVersion');
    });
    await Promise.all(seen);
  });

  describe('subresources', () => {
    const core = `/api/v1/namespaces/${NAMESPACE}`;
    const pod = async (name: string): Promise<Loose> => {
      const [, object] = exampleOf('Pod');
      return server.admin.ok('POST', `${core}/pods`, { ...object, metadata: { ...object.metadata, name } });
    };

    test('scale', async () => {
      for (const kind of ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']) {
        const [path, example] = exampleOf(kind);
        const object = renamed(example, 1, 'scale');
        await server.admin.ok('POST', path, object);
        const scale = `${path}/${object.metadata.name}/scale`;
        const shown = await good('GET', scale);
        expect(shown).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1' });
        expectSame(shown, await server.admin.ok('GET', scale));
        const written = await good('PUT', scale, { ...whole(shown), spec: { replicas: 7 } });
        expect(written.value.spec).toEqual({ replicas: 7 });
        expectSame(written, await server.admin.ok('GET', scale));
        const bad = { ...whole(shown), metadata: { ...shown.value.metadata, resourceVersion: '1' }, spec: { replicas: -1 } };
        await asksAlike(422, 'PUT', scale, bad);
      }
    });

    test('binding, in both ways, and ephemeral containers', async () => {
      for (const [name, path] of [
        ['one', `${core}/pods/one/binding`],
        ['two', `${core}/bindings`],
      ] as const) {
        await pod(name);
        await pod(`${name}-json`);
        const binding = (of: string): Loose => ({
          kind: 'Binding',
          apiVersion: 'v1',
          metadata: { name: of, namespace: NAMESPACE, annotations: { by: 'binary' } },
          target: { kind: 'Node', name: 'shelf-1' },
        });
        const bound = await binary.send('POST', path, binding(name));
        expect([bound.status, bound.kind]).toEqual([201, 'Status']);
        expectSame(bound, await server.admin.ok('POST', path.replace('/one/', '/one-json/'), binding(`${name}-json`)));
        const { spec, metadata } = await server.admin.ok('GET', `${core}/pods/${name}`);
        expect([spec.nodeName, metadata.annotations.by]).toEqual(['shelf-1', 'binary']);
        await asksAlike(409, 'POST', path, binding(name));
      }
      const current = whole(await good('GET', `${core}/pods/one`));
      const debugged = { ...current, spec: { ...current.spec, ephemeralContainers: [{ name: 'debug', image: 'tools:1' }] } };
      const written = await good('PUT', `${core}/pods/one/ephemeralcontainers`, debugged);
      expect(written.value.spec.ephemeralContainers).toMatchObject([{ name: 'debug', image: 'tools:1', imagePullPolicy: 'IfNotPresent' }]);
      expectSame(written, await server.admin.ok('GET', `${core}/pods/one`));
    });

    test('eviction, under both of its versions', async () => {
      for (const apiVersion of ['policy/v1', 'policy/v1beta1']) {
        const name = `evicted-${apiVersion.slice(7)}`;
        await server.admin.ok('POST', `${core}/pods/${(await pod(name)).metadata.name}/binding`, {
          metadata: { name },
          target: { name: 'shelf-1' },
        });
        const eviction = (deleteOptions: Loose): Loose => ({ kind: 'Eviction', apiVersion, metadata: { name }, deleteOptions });
        const at = `${core}/pods/${name}/eviction`;
        await asksAlike(201, 'POST', at, eviction({ dryRun: ['All'] }));
        expect((await server.admin.ok('GET', `${core}/pods/${name}`)).metadata.deletionTimestamp).toBeUndefined();
        const wrong = eviction({ preconditions: { uid: 'another' } });
        await asksAlike(409, 'POST', at, wrong);
        await good('POST', at, eviction({ gracePeriodSeconds: 7 }));
        expect((await server.admin.ok('GET', `${core}/pods/${name}`)).metadata.deletionGracePeriodSeconds).toBe(7);
      }
    });

    test('token requests, and the review of the token', async () => {
      const group = groupName(identity, 'authentication');
      const path = `${core}/serviceaccounts/front/token`;
      const request = { kind: 'TokenRequest', apiVersion: `${group}/v1`, metadata: {}, spec: { expirationSeconds: 3600 } };
      const answer = await good('POST', path, request);
      const other = await server.admin.ok('POST', path, request);
      const { token } = answer.value.status;
      for (const status of [answer.value.status, other.status]) {
        delete status.token;
        delete status.expirationTimestamp;
      }
      expectSame(answer, other, 'creationTimestamp', 'managedFields');
      const review = { kind: 'TokenReview', apiVersion: `${group}/v1`, metadata: {}, spec: { token } };
      const reviewed = await asksAlike(201, 'POST', `/apis/${group}/v1/tokenreviews`, review);
      expect(reviewed.value.status).toMatchObject({ authenticated: true, user: { username: `system:serviceaccount:${NAMESPACE}:front` } });
      const bad = { ...request, spec: { expirationSeconds: 1 } };
      await asksAlike(422, 'POST', path, bad);
    });

    test('reviews', async () => {
      for (const example of examples.filter(({ object }) => object.kind.endsWith('Review'))) {
        const [path, object] = [inIdentity(example.path, identity), inIdentity(example.object, identity)];
        await asksAlike(201, 'POST', path, object);
        const empty = { ...object, metadata: { ...object.metadata }, spec: {} };
        await asksAlike(/AccessReview$/.test(object.kind) ? 422 : 400, 'POST', path, empty);
      }
    });

    test('approval of certificates, finalizing of namespaces, statuses of components', async () => {
      const [path, example] = exampleOf('CertificateSigningRequest');
      const request = renamed(example, 5, 'approval');
      const made = whole(await good('POST', path, request));
      const conditions = [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }];
      const approved = await good('PUT', `${path}/${request.metadata.name}/approval`, { ...made, status: { conditions } });
      expect(approved.value.status.conditions).toMatchObject(conditions);
      expectSame(approved, await server.admin.ok('GET', `${path}/${request.metadata.name}`));

      const space = whole(
        await good('POST', '/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'finalized' } }),
      );
      const finalized = await good('PUT', '/api/v1/namespaces/finalized/finalize', { ...space, spec: { finalizers: ['example.com/x'] } });
      expect(finalized.value.spec.finalizers).toEqual(['example.com/x']);
      await asksAlike(200, 'GET', '/api/v1/namespaces/finalized');

      await asksAlike(200, 'GET', '/api/v1/componentstatuses');
    });
  });

  test('errors: of watches that begin too early, and of lists', async () => {
    await server.engine.compact(await server.engine.currentRevision());
    for (const subject of tried) {
      const path = collectionOf(subject);
      const watch = await binary.watch(`${path}?watch=1&resourceVersion=1`);
      const error = await watch.next();
      expect(await watch.next()).toBeUndefined();
      const [errorJson] = await (await server.admin.watch(`${path}?watch=1&resourceVersion=1`)).rest();
      expect([error?.type, error?.kind, error?.value.code, error?.value.reason]).toEqual(['ERROR', 'Status', 410, 'Expired']);
      const told = (object: Loose): Loose => ({ ...object, message: object.message.replace(/\(\d+\)/, '()') });
      expect(told(binary.plain(error as BinaryObject))).toEqual(told(binary.plainJson(errorJson?.object)));
      await asksAlike(410, 'GET', `${path}?resourceVersion=1&resourceVersionMatch=Exact`);
      for (const query of ['continue=x', 'labelSelector=%21%21', 'fieldSelector=a%3Db']) await asksAlike(400, 'GET', `${path}?${query}`);
    }
    expect(server.errors).toEqual([]);
  });
});
