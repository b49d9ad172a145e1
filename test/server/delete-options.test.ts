/** Options of deletions: under any version, in every representation, from body and query together. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { kubernetes, plat } from '../../packages/meta/src/identity.ts';
import { type Answer, type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';
import { deleteOptionsBytes, type WireDeleteOptions } from '../support/wire.ts';

interface Served {
  readonly groupVersion: string;
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

const forms = ['json', 'yaml', 'binary'] as const;
/** Of these the name of one differs by identity. */
const formsOf = (identity: string) => (identity === 'kubernetes' ? forms : (['binary'] as const));

describe.each(['plat', 'kubernetes'] as const)('a %s server', (identity) => {
  let server: TestServer;
  let ns: string;
  let configmaps: string;
  let resources: Served[];
  beforeAll(async () => {
    server = await startTestServer({ identity, direct: identity === 'kubernetes' });
    ns = await server.namespace();
    configmaps = `/api/v1/namespaces/${ns}/configmaps`;
    const groups = (await server.admin.ok('GET', '/apis')).groups as Loose[];
    const versions = ['v1', ...groups.flatMap((group) => group.versions.map((version: Loose) => version.groupVersion as string))];
    resources = [];
    for (const groupVersion of versions) {
      const list = await server.admin.ok('GET', root(groupVersion));
      for (const { name, namespaced, verbs } of list.resources) resources.push({ groupVersion, name, namespaced, verbs });
    }
  });
  afterAll(() => server.close());

  const root = (groupVersion: string): string => (groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`);
  const collection = ({ groupVersion, name, namespaced }: Served): string =>
    `${root(groupVersion)}${namespaced ? `/namespaces/${ns}` : ''}/${name}`;
  const remove = (path: string, form: (typeof forms)[number], apiVersion: string, options: WireDeleteOptions): Promise<Answer> => {
    const value = { kind: 'DeleteOptions', apiVersion, ...options };
    const type = form === 'binary' ? server.identity.protobufMediaType : `application/${form}`;
    const body = form === 'binary' ? deleteOptionsBytes(apiVersion, options) : form === 'json' ? JSON.stringify(value) : stringify(value);
    return server.admin.send('DELETE', path, { body, headers: { 'content-type': type } });
  };
  const configMap = async (): Promise<Loose> => server.admin.ok('POST', configmaps, { metadata: { name: unique('c') } });

  test.each(formsOf(identity))('reads options of every resource under the version of its group (%s)', async (form) => {
    const deleted = resources.filter(({ verbs, name }) => verbs.includes('delete') && !name.includes('/'));
    expect(deleted.length).toBeGreaterThan(50);
    // Identities differ in the names of groups: with one of them the first resource of every version will do.
    const isFirst = ({ groupVersion }: Served, i: number): boolean => deleted.findIndex((one) => one.groupVersion === groupVersion) === i;
    for (const resource of identity === 'kubernetes' ? deleted : deleted.filter(isFirst)) {
      const path = collection(resource);
      const label = `${resource.groupVersion} ${resource.name}`;
      const one = await remove(`${path}/none`, form, resource.groupVersion, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
      expect([label, one.status]).toEqual([label, 404]);
      const policy = await remove(`${path}/none`, form, resource.groupVersion, { propagationPolicy: 'Sideways' });
      expect([label, policy.status]).toEqual([label, 422]);
      if (!resource.verbs.includes('deletecollection')) continue;
      const none = `${path}?fieldSelector=metadata.name%3Dnone`;
      const all = await remove(none, form, resource.groupVersion, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
      expect([label, all.status]).toEqual([label, 200]);
      const refused = await remove(none, form, resource.groupVersion, { dryRun: ['Some'] });
      expect([label, refused.status]).toEqual([label, 422]);
    }
  });

  test.each(formsOf(identity))('heeds options under every version there is, and such as there are not (%s)', async (form) => {
    const versions = new Set(resources.map(({ groupVersion }) => groupVersion));
    for (const { groupSuffix } of [plat, kubernetes]) versions.add(`meta.${groupSuffix}/v1`);
    for (const version of [...versions, 'extensions/v1beta1', 'example.com/v7', '']) {
      const { metadata } = await configMap();
      const path = `${configmaps}/${metadata.name}`;
      const dry = await remove(path, form, version, { dryRun: ['All'] });
      expect([version, dry.status, (await server.admin.get(path)).status]).toEqual([version, 200, 200]);
      const other = await remove(path, form, version, { preconditions: { uid: 'another' } });
      expect([version, other.status]).toEqual([version, 409]);
      const removed = await remove(path, form, version, { preconditions: { uid: metadata.uid } });
      expect([version, removed.status, (await server.admin.get(path)).status]).toEqual([version, 200, 404]);
    }
  });

  test('refuses a body that is something else', async () => {
    const { metadata } = await configMap();
    for (const kind of ['CreateOptions', 'Pod', 'Nothing']) {
      const answer = await server.admin.delete(`${configmaps}/${metadata.name}`, { kind, apiVersion: 'v1' });
      expect([kind, answer.status, answer.json.message]).toEqual([
        kind,
        400,
        `the body must be DeleteOptions, not "${kind}" of version "v1"`,
      ]);
    }
    const list = await server.admin.delete(`${configmaps}/${metadata.name}`, []);
    expect(list.status).toBe(400);
    expect((await server.admin.get(`${configmaps}/${metadata.name}`)).status).toBe(200);
  });

  test.each(forms)('makes a dry run of what the query or the body calls one (%s)', async (form) => {
    const { metadata } = await configMap();
    const path = `${configmaps}/${metadata.name}`;
    const only = `fieldSelector=metadata.name%3D${metadata.name}`;
    for (const [at, options] of [
      [`${path}?dryRun=All`, {}],
      [`${path}?dryRun=All`, { gracePeriodSeconds: 0 }],
      [path, { dryRun: ['All'] }],
      [`${path}?gracePeriodSeconds=0`, { dryRun: ['All'] }],
      [`${path}?dryRun=All`, { dryRun: ['All'] }],
      [`${configmaps}?${only}&dryRun=All`, {}],
      [`${configmaps}?${only}`, { dryRun: ['All'] }],
    ] as [string, WireDeleteOptions][]) {
      expect([at, (await remove(at, form, 'v1', options)).status]).toEqual([at, 200]);
      expect([at, (await server.admin.get(path)).status]).toEqual([at, 200]);
    }
    expect((await remove(`${path}?dryRun=Some`, form, 'v1', {})).status).toBe(422);
    expect((await server.admin.get(path)).status).toBe(200);
  });

  test('takes from the query beside a body only what makes a deletion safer', async () => {
    const [one, two] = [await configMap(), await configMap()];
    const at = (object: Loose, query: string): string => `${configmaps}/${object.metadata.name}?${query}`;
    const removed = await remove(at(one, 'propagationPolicy=Foreground'), 'json', 'v1', {});
    expect([removed.status, removed.json.kind]).toEqual([200, 'Status']);
    expect((await remove(at(two, 'uid=another'), 'json', 'v1', {})).status).toBe(409);
    expect((await remove(at(two, 'resourceVersion=1'), 'json', 'v1', {})).status).toBe(409);
    expect((await remove(at(two, `uid=${two.metadata.uid}`), 'json', 'v1', {})).status).toBe(200);
    // Of a collection the query's resourceVersion says which list is meant.
    const four = await configMap();
    const listed = `${configmaps}?resourceVersion=${four.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    expect((await remove(`${listed}&fieldSelector=metadata.name%3D${four.metadata.name}`, 'json', 'v1', {})).status).toBe(200);
    expect((await server.admin.get(`${configmaps}/${four.metadata.name}`)).status).toBe(404);
  });
});
