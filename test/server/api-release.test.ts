/** `--api-release`: a server serves the groups, versions and resources of a release, with its warnings. */
import { afterAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { groupVersionsOf, resourceSpans } from '../../packages/kinds/src/release-facts.testing.ts';
import { type ApiRelease, apiReleases, minorOf, patchRelease } from '../../packages/lib/src/version.ts';
import { groupName, kubernetes } from '../../packages/meta/src/identity.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../packages/testing/src/index.ts';

const servers: TestServer[] = [];
async function start(apiRelease: ApiRelease, more: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ identity: 'kubernetes', apiRelease, ...more });
  servers.push(server);
  return server;
}
const ofReleases = new Map<ApiRelease, Promise<TestServer>>();
/** The server of a release without other options, which tests that change nothing share. */
function serverOf(release: ApiRelease): Promise<TestServer> {
  const server = ofReleases.get(release) ?? start(release);
  ofReleases.set(release, server);
  return server;
}
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** `networking/v1` → `networking.k8s.io/v1`. */
const full = (apiVersion: string): string =>
  apiVersion.includes('/')
    ? `${groupName(kubernetes, apiVersion.slice(0, apiVersion.lastIndexOf('/')))}/${versionOf(apiVersion)}`
    : apiVersion;
const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
const rootOf = (apiVersion: string): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);

interface Groups {
  readonly groups: readonly { name: string; versions: { groupVersion: string }[]; preferredVersion: { version: string } }[];
}
interface Resources {
  readonly resources: readonly { name: string }[];
}
async function get<T>(server: TestServer, path: string): Promise<T> {
  const { status, text } = await server.request('GET', path, { headers: { accept: 'application/json' } });
  expect(status, path).toBe(200);
  return JSON.parse(text) as T;
}

/** Releases whose OpenAPI documents, which take as long as all the rest, are made: those that removed versions, and the default. */
const described: ReadonlySet<ApiRelease> = new Set(['1.15', '1.16', '1.22', '1.24', '1.27', '1.36']);

test.each(apiReleases)('release %s: discovery, OpenAPI and /version are of that release', async (release) => {
  const server = await serverOf(release);
  const { groups } = await get<Groups>(server, '/apis');
  const served = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
  const expectedVersions = groupVersionsOf(release);
  expect(['v1', ...served].sort()).toEqual(expectedVersions.map(full).sort());

  const preferred = Object.fromEntries(groups.map(({ name, preferredVersion }) => [name, preferredVersion.version]));
  const isNew = minorOf(release) >= 23;
  expect(preferred.autoscaling).toBe(isNew ? 'v2' : 'v1');
  for (const { name, versions } of groups)
    if (name !== 'autoscaling' && versions.some(({ groupVersion }) => groupVersion === `${name}/v1`)) expect(preferred[name]).toBe('v1');

  const found = new Set<string>();
  for (const apiVersion of expectedVersions)
    for (const { name } of (await get<Resources>(server, rootOf(full(apiVersion)))).resources) found.add(`${apiVersion}/${name}`);
  for (const [resource, from, to] of resourceSpans) {
    const expected = minorOf(from) <= minorOf(release) && minorOf(release) <= minorOf(to);
    expect(found.has(resource), resource).toBe(expected);
  }

  if (described.has(release)) {
    const { paths } = await get<{ paths: Record<string, unknown> }>(server, '/openapi/v3');
    const versions = Object.keys(paths).flatMap((path) => /^(?:apis\/(.+\/v[^/]+)|api\/(v1))$/.exec(path)?.slice(1).find(Boolean) ?? []);
    expect(versions.sort()).toEqual(expectedVersions.map(full).sort());
  }

  const [major, minor] = release.split('.');
  const gitVersion = new RegExp(`^v${patchRelease(release).replaceAll('.', '\\.')}\\+plat\\.`);
  expect(await get(server, '/version')).toMatchObject({ major, minor, gitVersion: expect.stringMatching(gitVersion) });
});

test('groups have the names of the identity', async () => {
  const { groups } = await get<Groups>(await start('1.15', { identity: 'plat' }), '/apis');
  const names = groups.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['extensions', 'apps', 'networking.plat.dev', 'rbac.authorization.plat.dev']));
});

test('the group of workloads that moved comes first while it has them, and after Ingress later', async () => {
  const order = async (release: ApiRelease) => (await get<Groups>(await serverOf(release), '/apis')).groups.map(({ name }) => name);
  const old = await order('1.19');
  expect(old.indexOf('extensions')).toBeLessThan(old.indexOf('apps'));
  const later = await order('1.20');
  expect(later.indexOf('extensions')).toBe(later.indexOf('networking.k8s.io') + 1);
});

test('a version that the release does not serve is 404 with a Status that names the replacement', async () => {
  const server = await serverOf('1.25');
  const gone = async (method: string, path: string) => {
    const { status, body } = await server.request(method, path);
    return { status, body };
  };
  const removed = (text: string) => ({
    status: 404,
    body: { kind: 'Status', reason: 'NotFound', code: 404, message: `the server could not find the requested resource: ${text}` },
  });
  const deployment =
    'extensions/v1beta1 Deployment is not served by this server (API of release 1.25): it was removed in 1.16; use apps/v1, and `plat convert` to convert manifests';
  for (const [method, path] of [
    ['GET', '/apis/extensions/v1beta1/namespaces/default/deployments'],
    ['GET', '/apis/extensions/v1beta1/deployments'],
    ['GET', '/apis/extensions/v1beta1/namespaces/default/deployments/x/scale'],
    ['POST', '/apis/extensions/v1beta1/namespaces/default/deployments'],
    ['DELETE', '/apis/extensions/v1beta1/namespaces/default/deployments/x'],
  ] as const)
    expect(await gone(method, path)).toMatchObject(removed(deployment));
  expect(await gone('GET', '/apis/policy/v1beta1/podsecuritypolicies')).toMatchObject(
    removed(
      'policy/v1beta1 PodSecurityPolicy is not served by this server (API of release 1.25): it was removed in 1.25; use pod security admission (labels of namespaces) or an admission webhook',
    ),
  );
  expect(await gone('GET', '/apis/batch/v1beta1')).toMatchObject(
    removed(
      'batch/v1beta1 is not served by this server (API of release 1.25): it was removed in 1.25; use batch/v1, and `plat convert` to convert manifests',
    ),
  );
  for (const path of ['/apis/extensions', '/apis/extensions/'])
    expect(await gone('GET', path)).toMatchObject(
      removed(
        'extensions is not served by this server (API of release 1.25): it was removed in 1.22; use apps/v1 or networking.k8s.io/v1, and `plat convert` to convert manifests',
      ),
    );
  expect(await gone('GET', '/apis/nothing.example.com')).toMatchObject({ status: 404, body: '404 page not found\n' });
  expect(await gone('GET', '/apis/nothing.example.com/v1/things')).toMatchObject({ status: 404, body: '404 page not found\n' });
  expect((await gone('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets')).status).toBe(400);
});

test('a body in a version that the release does not serve names the replacement', async () => {
  const server = await serverOf('1.25');
  const { status, body } = await server.request('POST', '/apis/batch/v1/namespaces/default/cronjobs', {
    body: { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'c' } },
  });
  expect(status).toBe(400);
  expect((body as { message: string }).message).toBe(
    'the API version in the data (batch/v1beta1) does not match the expected API version (batch/v1): batch/v1beta1 CronJob is not served by this server (API of release 1.25): it was removed in 1.25; use batch/v1, and `plat convert` to convert manifests',
  );
});

test('deprecated versions warn by the release, and are counted with the release that removes them', async () => {
  const warningOf = async (server: TestServer, path: string) => (await server.request('GET', path)).headers.get('warning');
  const budgets = '/apis/policy/v1beta1/poddisruptionbudgets';
  expect(await warningOf(await serverOf('1.20'), budgets)).toBeNull();
  const server = await serverOf('1.21');
  expect(await warningOf(server, budgets)).toBe(
    '299 - "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget"',
  );
  expect((await server.request('GET', '/metrics')).text).toContain(
    'apiserver_requested_deprecated_apis{group="policy",removed_release="1.25",resource="poddisruptionbudgets",subresource="",version="v1beta1"} 1',
  );
});

describe('--runtime-config on top of a release', () => {
  const withConfig = (apiRelease: ApiRelease, ...items: string[]) =>
    start(apiRelease, { server: { runtimeConfig: readRuntimeConfig(items) } });
  const versions = async (server: TestServer) =>
    (await get<Groups>(server, '/apis')).groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));

  test('a removed version is served where it is named', async () => {
    const server = await withConfig('1.27', 'policy/v1beta1/podsecuritypolicies=true', 'batch/v1beta1');
    expect(await versions(server)).toEqual(expect.arrayContaining(['policy/v1beta1', 'batch/v1beta1']));
    expect((await get<Resources>(server, '/apis/policy/v1beta1')).resources.map(({ name }) => name)).toEqual(['podsecuritypolicies']);
  });

  test('so it is in the default release; what nothing has is refused', async () => {
    const server = await withConfig('1.24', 'extensions/v1beta1/deployments=true', 'flowcontrol.apiserver.k8s.io/v1beta3');
    expect(await versions(server)).toEqual(expect.arrayContaining(['extensions/v1beta1', 'flowcontrol.apiserver.k8s.io/v1beta3']));
    expect((await get<Resources>(server, '/apis/extensions/v1beta1')).resources.map(({ name }) => name)).toContain('deployments');
    expect((await server.request('GET', '/apis/extensions/v1beta1/daemonsets')).status).toBe(404);
    await expect(withConfig('1.24', 'extensions/v1beta2')).rejects.toThrow(
      '--runtime-config: "extensions/v1beta2" names nothing that this server has; the nearest is extensions/v1beta1',
    );
  });

  test('what the release does not have is no part of api/all and api/beta', async () => {
    const all = await withConfig('1.25', 'api/all=true', 'api/beta=true');
    const stable = (await versions(all)).filter((one) => !one.includes('alpha'));
    expect(stable).toEqual(await versions(await serverOf('1.25')));
  });

  test('api/beta=false leaves the stable versions of the release', async () => {
    const stable = await withConfig('1.18', 'api/beta=false');
    expect((await versions(stable)).filter((one) => one.includes('beta'))).toEqual([]);
    expect((await stable.request('GET', '/apis/batch/v1beta1/cronjobs')).status).toBe(404);
  });
});

test('the admission plug-in PodSecurityPolicy is refused from 1.25 on', async () => {
  const options = { identity: 'kubernetes', admission: { enable: ['PodSecurityPolicy'] } };
  await expect(startTestServer({ ...options, apiRelease: '1.25' })).rejects.toThrow(
    '--enable-admission-plugins: PodSecurityPolicy was removed in 1.25 and cannot run with --api-release 1.25; use PodSecurity, or a release before 1.25',
  );
  servers.push(await startTestServer({ ...options, apiRelease: '1.24' }));
});

test('a release that there is not is refused', async () => {
  await expect(startTestServer({ apiRelease: '1.14' as ApiRelease })).rejects.toThrow('option apiRelease: "1.14" is not one of 1.15, 1.16');
});

test('controllers run in every release: they do not depend on the versions that are served', async () => {
  for (const release of ['1.15', '1.20', '1.27'] as const) {
    const server = await start(release, { controllers: true });
    await server.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'a' } } });
    await server.settled();
    expect((await server.request('GET', '/api/v1/namespaces/a/serviceaccounts/default')).status).toBe(200);
    await server.request('POST', '/api/v1/namespaces/a/services', {
      body: { metadata: { name: 's' }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } },
    });
    await server.settled();
    const lost = server.requests.filter(({ code, name, resource }) => code === 404 && resource !== '' && name === '');
    expect(lost.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    // Content of the namespace that came late makes its controller try again after a time, which no server has settled after.
    const gone = server.client().waitFor({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }, 'delete');
    await server.request('DELETE', '/api/v1/namespaces/a');
    await gone;
    expect((await server.request('GET', '/api/v1/namespaces/a')).status).toBe(404);
  }
});
