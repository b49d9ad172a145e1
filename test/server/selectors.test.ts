import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from '../../packages/lib/src/testing/fast-check.testing.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ direct: true });
  ns = await server.namespace();
});
afterAll(() => server.close());
const names = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name);
const select = async (path: string, labels: string, fields = ''): Promise<string[]> =>
  names(await server.admin.ok('GET', `${path}?labelSelector=${encodeURIComponent(labels)}&fieldSelector=${encodeURIComponent(fields)}`));

describe('labels', () => {
  const path = () => `/api/v1/namespaces/${ns}/secrets`;
  beforeAll(async () => {
    const objects: Record<string, Record<string, string>> = {
      a: { app: 'web', tier: 'front', 'example.com/x': '1' },
      b: { app: 'web', tier: 'back' },
      c: { app: 'db' },
      d: {},
    };
    for (const [name, labels] of Object.entries(objects)) await server.admin.ok('POST', path(), { metadata: { name, labels } });
  });
  test.each([
    ['app=web', ['a', 'b']],
    ['app==web,tier=back', ['b']],
    ['app!=web', ['c', 'd']],
    ['app in (web, db)', ['a', 'b', 'c']],
    ['app in (web),tier notin (front)', ['b']],
    ['tier notin (front)', ['b', 'c', 'd']],
    ['app', ['a', 'b', 'c']],
    ['!app', ['d']],
    ['!tier,app', ['c']],
    ['example.com/x', ['a']],
    ['example.com/x > 0', ['a']],
    ['example.com/x < 1', []],
    ['app=', []],
    ['', ['a', 'b', 'c', 'd']],
  ])('%s', async (selector, expected) => {
    expect(await select(path(), selector)).toEqual(expected);
  });
  test.each(['app in', 'app in web', '=web', 'a b', 'app=b@d', 'x > y'])('%s is refused', async (selector) => {
    const answer = await server.admin.get(`${path()}?labelSelector=${encodeURIComponent(selector)}`);
    expect(answer.json).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  test.each([
    ['api/v1', 'pods', 'field label not supported: spec.color'],
    ['api/v1', 'configmaps', '"spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['apis/batch/v1', 'jobs', 'field label "spec.color" not supported for Job'],
    ['apis/batch/v1', 'cronjobs', '"spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['apis/batch/v1beta1', 'cronjobs', 'field label "spec.color" not supported for "CronJob"'],
  ])('%s %s: %s', async (version, plural, message) => {
    const answer = await server.admin.get(`/${version}/namespaces/${ns}/${plural}?fieldSelector=spec.color%3Dred`);
    expect(answer.json).toMatchObject({ code: 400, message });
  });
});

describe('fields', () => {
  test('names and namespaces, for every kind', async () => {
    const name = unique('c');
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name } });
    expect(await select(`/api/v1/namespaces/${ns}/configmaps`, '', `metadata.name=${name}`)).toEqual([name]);
    expect(await select('/api/v1/configmaps', '', `metadata.name=${name},metadata.namespace=${ns}`)).toEqual([name]);
    expect(await select('/api/v1/configmaps', '', `metadata.name=${name},metadata.namespace!=${ns}`)).toEqual([]);
    expect(await select('/api/v1/namespaces', '', `metadata.name=${ns}`)).toEqual([ns]);
  });

  test('those that a kind names', async () => {
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const pod = (name: string, spec: Loose) =>
      server.admin.ok('POST', pods, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
    await pod('p1', { nodeName: 'n1' });
    await pod('p2', { nodeName: 'n2', restartPolicy: 'Never' });
    await pod('p3', {});
    await server.admin.patch(`${pods}/p2/status`, { status: { phase: 'Running', podIP: '10.1.1.1' } });
    expect(await select(pods, '', 'spec.nodeName=n1')).toEqual(['p1']);
    expect(await select(pods, '', 'spec.nodeName=')).toEqual(['p3']);
    expect(await select(pods, '', 'spec.nodeName!=n1')).toEqual(['p2', 'p3']);
    expect(await select(pods, '', 'spec.restartPolicy=Never')).toEqual(['p2']);
    expect(await select(pods, '', 'status.phase=Running')).toEqual(['p2']);
    expect(await select(pods, '', 'status.podIP=10.1.1.1')).toEqual(['p2']);
    expect(await select(pods, '', 'spec.schedulerName=default-scheduler,status.phase=Pending')).toEqual(['p1', 'p3']);
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    await server.admin.ok('POST', secrets, { metadata: { name: 'typed' }, type: 'example.com/own' });
    expect(await select(secrets, '', 'type=example.com/own')).toEqual(['typed']);
    expect(await select('/api/v1/namespaces', '', `status.phase=Active,metadata.name=${ns}`)).toEqual([ns]);
    const events = `/api/v1/namespaces/${ns}/events`;
    await server.admin.ok('POST', events, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p1', namespace: ns },
      reason: 'Because',
    });
    expect(await select(events, '', 'involvedObject.name=p1,reason=Because')).toEqual(['e']);
  });

  test.each(['spec.color=red', 'metadata.labels=x', 'metadata.name'])('%s is refused', async (selector) => {
    const answer = await server.admin.get(`/api/v1/namespaces/${ns}/pods?fieldSelector=${encodeURIComponent(selector)}`);
    expect(answer.json).toMatchObject({ code: 400, reason: 'BadRequest' });
  });
});

test('what an index finds is what a look at every object finds, after any changes', async () => {
  const { admin } = server;
  const change = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    value: fc.constantFrom('1', '2', '', undefined),
    gone: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 15 }), async (changes) => {
      const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
      const label = unique('l');
      await select(path, `${label}=1`);
      for (const { name, value, gone } of changes) {
        if (gone) await admin.delete(`${path}/${name}`);
        else if ((await admin.patch(`${path}/${name}`, { metadata: { labels: { [label]: value ?? null } } })).status === 404)
          await admin.ok('POST', path, { metadata: { name, labels: value === undefined ? {} : { [label]: value } } });
      }
      const all = await admin.ok('GET', path);
      for (const value of ['1', '2', ''])
        expect(await select(path, `${label}=${value}`)).toEqual(
          names({ items: all.items.filter((item: Loose) => item.metadata.labels?.[label] === value) }),
        );
    }),
    { numRuns: 15 },
  );
});
