/** Webhooks with `matchPolicy: Equivalent` see requests in the groups that a kind has left, in the version of their rule. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { identities } from '../../packages/meta/src/identity.ts';
import { caBundle, patched, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('as %s', (name) => {
  const identity = identities[name] as NonNullable<(typeof identities)[string]>;
  const registration = `admissionregistration.${identity.groupSuffix}`;
  let server: TestServer;
  let hook: TestWebhook;
  let ns: string;
  beforeAll(async () => {
    hook = await startWebhook(({ request }) => {
      const { operation, object } = request as Loose;
      if (operation === 'DELETE' || object.metadata.labels?.seen !== 'no') return { allowed: true };
      return patched({ op: 'replace', path: '/metadata/labels/seen', value: 'yes' }, { op: 'replace', path: '/spec/replicas', value: 3 });
    });
    // The release has v1beta1 of webhook configurations alone: they are called although the version of later releases is off.
    const runtimeConfig = readRuntimeConfig([`${registration}/v1=false`]);
    server = await startTestServer({ identity: name, apiRelease: '1.15', runtimeConfig, controllers: ['-*'] });
    ns = await server.namespace();
    const webhook = (path: string, apiGroup: string, version: string, matchPolicy?: string) => ({
      name: `${path}.example.com`,
      rules: [{ operations: ['*'], apiGroups: [apiGroup], apiVersions: [version], resources: ['deployments'] }],
      clientConfig: { url: `${hook.url}/${path}`, caBundle },
      sideEffects: 'None',
      ...(matchPolicy !== undefined && { matchPolicy }),
    });
    await server.admin.ok('POST', `/apis/${registration}/v1beta1/mutatingwebhookconfigurations`, {
      metadata: { name: 'all' },
      webhooks: [
        webhook('new', 'apps', 'v1', 'Equivalent'),
        webhook('new-exact', 'apps', 'v1', 'Exact'),
        webhook('old', 'extensions', 'v1beta1', 'Equivalent'),
        webhook('old-exact', 'extensions', 'v1beta1'),
      ],
    });
  });
  afterAll(async () => {
    await server.close();
    await hook.close();
  });

  const path = (apiVersion: string, object = ''): string =>
    `/apis/${apiVersion}/namespaces/${ns}/deployments${object === '' ? '' : `/${object}`}`;
  const deployment = (of: string) => ({
    metadata: { name: of, labels: { seen: 'no' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: of } },
      template: { metadata: { labels: { app: of } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  /** `new apps/v1 apps/v1 extensions/v1beta1`: the webhook, the version of the rule, of the object and of the request. */
  const calls = (): string[] =>
    hook.calls.splice(0).map(({ path: called, review }) => {
      const { kind, object, oldObject, requestKind } = review.request as Loose;
      expect(kind.kind).toBe('Deployment');
      const versionOf = ({ group, version }: Loose): string => `${group}/${version}`;
      return `${called.replace(/^.*\/|\?.*$/g, '')} ${versionOf(kind)} ${(object ?? oldObject).apiVersion} ${versionOf(requestKind)}`;
    });

  test.each([
    [
      'extensions/v1beta1',
      [
        'new apps/v1 apps/v1 extensions/v1beta1',
        'old extensions/v1beta1 extensions/v1beta1 extensions/v1beta1',
        'old-exact extensions/v1beta1 extensions/v1beta1 extensions/v1beta1',
      ],
    ],
    ['apps/v1', ['new apps/v1 apps/v1 apps/v1', 'new-exact apps/v1 apps/v1 apps/v1', 'old extensions/v1beta1 extensions/v1beta1 apps/v1']],
    ['apps/v1beta1', ['new apps/v1 apps/v1 apps/v1beta1', 'old extensions/v1beta1 extensions/v1beta1 apps/v1beta1']],
  ])('requests in %s', async (apiVersion, expected) => {
    const of = apiVersion.replace('/', '-');
    hook.calls.length = 0;
    const made = await server.admin.ok('POST', path(apiVersion), deployment(of));
    expect(calls()).toEqual(expected);
    // The first webhook changed the object in its own version.
    expect(made).toMatchObject({ metadata: { labels: { seen: 'yes' } }, spec: { replicas: 3 } });
    for (const other of ['apps/v1', 'extensions/v1beta1']) expect((await server.admin.ok('GET', path(other, of))).spec.replicas).toBe(3);
    const patch = await server.admin.patch(path(apiVersion, of), { spec: { replicas: 4 } });
    expect([patch.status, calls()]).toEqual([200, expected]);
    await server.admin.ok('DELETE', path(apiVersion, of));
    expect(calls()).toEqual(expected);
  });
});
