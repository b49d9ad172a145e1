/** Pages of describe: equal to those of the stock client, and by every way of choosing objects. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IO } from '../../packages/cli/src/command.ts';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { kubectlBefore, kubectlFor, kubectlMinor, kubectlMissing } from '../support/kubectl.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { type Made, Maker, makeAll, makeEvents } from './describe/objects.ts';

/** The command line in the name of kubectl. */
async function asKubectl(server: TestServer, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = testIO({ program: 'kubectl', cwd: server.dataDir });
  const code = await run([...args, '--kubeconfig', server.running.adminConfigPath], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

interface Difference {
  readonly kinds: readonly string[];
  readonly text: RegExp;
  readonly put?: string;
  /** The release, 1.25 by 25, that made it. */
  readonly since: number;
  readonly why: string;
}
const occurs = ({ since }: Difference): boolean => since <= (kubectlMinor ?? 32);
/**
 * What later releases of the stock client show and that of 1.24 does not, by kinds. Lines that are taken out may have made
 * a column wider: such pages are compared with two spaces between their columns.
 */
const allNewer: readonly Difference[] = [
  { kinds: ['Pod'], text: /^Service Account: .*\n/m, since: 25, why: 'the service account of a pod is shown' },
  {
    kinds: ['CronJob', 'DaemonSet', 'Deployment', 'Job', 'ReplicaSet', 'ReplicationController', 'StatefulSet'],
    text: /^ {2}(Node-Selectors|Tolerations):.*\n(?: {10,}\S.*\n)*/gm,
    since: 31,
    why: 'node selectors and tolerations of templates are shown',
  },
  { kinds: ['Job'], text: /^(Suspend|Backoff Limit): .*\n/gm, since: 29, why: 'both are shown' },
  { kinds: ['Service'], text: /^Internal Traffic Policy: .*\n/m, since: 30, why: 'it is shown' },
  { kinds: ['ConfigMap'], text: /\n\n(?=\nBinaryData\n)/, put: '\n', since: 27, why: 'an empty line ends each value' },
];
/** What 1.24 shows and later releases do not. */
const allOlder: readonly Difference[] = [
  { kinds: ['Lease'], text: /^ {2}Managed Fields:\n(?: {4}.*\n)+/m, since: 25, why: 'managed fields of other kinds are left out' },
];
const newer = allNewer.filter(occurs);
const older = allOlder.filter(occurs);
function comparable(kind: string, text: string, changes: readonly Difference[]): string {
  let page = text.replace(/ (?:\d+[ydhms])+$/gm, ' AGE');
  for (const { kinds, text: pattern, put = '' } of changes) if (kinds.includes(kind)) page = page.replace(pattern, put);
  const widened = [...newer, ...older].some(({ kinds, put }) => put === undefined && kinds.includes(kind));
  return widened ? page.replace(/^ {9,}/gm, '         ').replace(/(\S) {2,}/g, '$1  ') : page;
}

describe('beside the stock client', () => {
  let server: TestServer;
  let made: readonly Made[];
  let ours: readonly string[];
  let theirs: readonly string[] | undefined;

  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: [] });
    const ns = await server.namespace({ team: 'a' });
    const maker = new Maker(server, ns);
    await makeAll(maker, ns);
    made = maker.made;
    const eventful = ['Pod', 'Deployment', 'Service', 'ConfigMap', 'Lease', 'Node'];
    await makeEvents(
      server,
      ns,
      made.filter(({ kind }) => eventful.includes(kind)),
    );
    const file = join(server.dataDir, 'all.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: made }));
    const split = (text: string): string[] => text.split(/\n\n\n(?=Name:)/).map((page) => page.replace(/\n*$/, '\n'));
    const { code, stdout, stderr } = await asKubectl(server, ['describe', '-f', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    ours = split(stdout);
    if (kubectlMissing === undefined) theirs = split(await kubectlFor(server).ok(['describe', '-f', file]));
  });
  afterAll(() => server.close());

  test('there is a page for each object', () => {
    expect(ours.map((page) => /^Name: +(\S+)/.exec(page)?.[1])).toEqual(made.map(({ metadata }) => metadata.name));
  });
  test.skipIf(kubectlMissing !== undefined || kubectlBefore(24))(
    'the pages are those of the stock client, but for what newer releases show',
    () => {
      const named = (pages: readonly string[] | undefined, changes: readonly Difference[]): Loose =>
        made.map(({ kind, metadata }, i) => `${kind}/${metadata.name}\n${comparable(kind, pages?.[i] ?? '', changes)}`);
      expect(named(ours, older)).toEqual(named(theirs, newer));
    },
  );
  test('every difference is one that occurs', () => {
    for (const { kinds, text, why } of older)
      expect(
        made.some(({ kind }, i) => kinds.includes(kind) && new RegExp(text, 'm').test(ours[i] as string)),
        why,
      ).toBe(true);
    if (theirs === undefined) return;
    for (const { kinds, text, why } of newer)
      for (const kind of kinds)
        expect(
          made.some((object, i) => object.kind === kind && new RegExp(text, 'm').test(theirs?.[i] as string)),
          `${kind}: ${why}`,
        ).toBe(true);
  });
});

describe('by every way of choosing objects', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const post = (path: string, body: Loose): Promise<Loose> => server.admin.ok('POST', path, body);

  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: [] });
    plat = platFor(server);
    ns = await server.namespace();
    for (const name of ['web-1', 'web-2', 'other'])
      await post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name, labels: { app: name.slice(0, 3) } }, data: { key: name } });
  });
  afterAll(() => server.close());
  const names = (text: string): string[] => [...text.matchAll(/^Name: +(\S+)$/gm)].map(([, name]) => name as string);
  const ok = (...args: string[]): Promise<string> => plat.ok(['describe', '-n', ns, ...args]);

  test('one object, several, all of a type, by label, in all namespaces, in pages', async () => {
    expect(names(await ok('cm', 'web-1'))).toEqual(['web-1']);
    expect(names(await ok('cm/web-1', 'configmap/other'))).toEqual(['web-1', 'other']);
    expect(names(await ok('configmaps', '-l', 'app=web'))).toEqual(['web-1', 'web-2']);
    expect(names(await ok('cm', '--chunk-size=1'))).toEqual(names(await ok('cm', '--chunk-size=0')));
    expect(names(await plat.ok(['describe', 'cm', '-A', '-l', 'app'])).sort()).toEqual(['other', 'web-1', 'web-2']);
  });
  test('a name that no object has is the beginning of names', async () => {
    const text = await ok('cm', 'web');
    expect(names(text)).toEqual(['web-1', 'web-2']);
    // Each of these ends with an empty line.
    expect(text).toMatch(/Events: +<none>\n\nName: +web-2.*Events: +<none>\n\n$/s);
    expect(await plat.run(['describe', 'cm', 'nothing', '-n', ns])).toMatchObject({ code: 1, stdout: '' });
    expect((await plat.run(['describe', 'cm/web', '-n', ns])).stderr).toContain('configmaps "web" not found');
  });
  test('what is missing does not keep the others from being shown', async () => {
    const { code, stdout, stderr } = await plat.run(['describe', 'cm', 'absent', 'web-1', '-n', ns]);
    expect([code, names(stdout)]).toEqual([1, ['web-1']]);
    expect(stderr).toContain('configmaps "absent" not found');
    const stock = await asKubectl(server, ['describe', 'cm', 'absent', 'web-1', 'gone', '-n', ns]);
    expect(stock.stderr).toBe(
      'Error from server (NotFound): configmaps "absent" not found\nError from server (NotFound): configmaps "gone" not found\n',
    );
  });
  test('files name objects', async () => {
    const file = plat.file('two.json', {
      apiVersion: 'v1',
      kind: 'List',
      items: ['other', 'web-2'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
    });
    expect(names(await ok('-f', file))).toEqual(['other', 'web-2']);
    plat.file('one/map.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "1" }\n');
    plat.file('one/kustomization.yaml', 'namePrefix: web-\nresources: [map.yaml]\n');
    expect(names(await ok('-k', 'one'))).toEqual(['web-1']);
    expect((await plat.run(['describe', '-f', file, '-k', 'one'])).stderr).toContain('only one of -f or -k');
  });
  test('events are shown, or not', async () => {
    const { uid } = (await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps/other`)).metadata;
    await post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'e' },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', namespace: ns, uid },
      type: 'Normal',
      reason: 'Seen',
      message: 'it was seen',
      firstTimestamp: '2001-02-03T04:05:06Z',
    });
    expect(await ok('cm', 'other')).toMatch(
      /Events:\n {2}Type +Reason +Age +From +Message\n {2}-.*\n {2}Normal {2}Seen +\d+y +it was seen\n$/,
    );
    expect(await ok('cm', 'other', '--show-events=false')).not.toContain('Events');
  });
  test('an older version of a kind has the page of the newest', async () => {
    await post(`/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`, {
      metadata: { name: 'h' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: [{ type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } } }],
      },
    });
    expect(await ok('hpa.v1.autoscaling', 'h')).toMatch(/^ {2}"rps" on pods: +<unknown> \/ 10$/m);
  });
  test('custom kinds are shown by their fields, without managed fields', async () => {
    const group = 'shop.example';
    const names = { plural: 'orders', singular: 'order', kind: 'Order' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `orders.${group}` },
      spec: { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] },
    });
    await plat.ok(['wait', `crd/orders.${group}`, '--for=condition=Established']);
    const order = { apiVersion: `${group}/v1`, kind: 'Order', metadata: { name: 'o' }, spec: { lastSeenURL: 'x' } };
    await plat.ok(['create', '-n', ns, '-f', '-'], order);
    const text = await ok('order', 'o');
    expect(text).toMatch(/Spec:\n {2}Last Seen URL: {2}x\n/);
    expect(text).not.toContain('Managed Fields');
  });
  test('on a terminal the words of state are coloured, but not as kubectl, and not with NO_COLOR', async () => {
    const shown = async (more: Partial<IO>): Promise<string> => {
      const io = testIO();
      const screen = testIO({ cwd: plat.cwd, terminal: { ...io.terminal, size: () => ({ width: 100, height: 1000 }) }, ...more });
      expect(await run(['describe', 'ns', ns, '--kubeconfig', server.running.adminConfigPath], screen)).toBe(0);
      return screen.stdout;
    };
    expect(await shown({})).toContain('Status:       \x1b[32mActive\x1b[0m\n');
    expect(await shown({ env: { NO_COLOR: '1' } })).toContain('Status:       Active\n');
    expect(await shown({ program: 'kubectl' })).toContain('Status:       Active\n');
  });
  test('pages that do not fit a terminal go through the pager', async () => {
    const { terminal } = testIO();
    const shown = async (height: number): Promise<string> => {
      const screen = { ...terminal, interactive: true, size: () => ({ width: 100, height }) };
      // This pager exits at once, and shows nothing.
      const io = testIO({ cwd: plat.cwd, terminal: screen, env: { PAGER: 'true', NO_COLOR: '1' } });
      expect(await run(['describe', 'ns', ns, '--kubeconfig', server.running.adminConfigPath], io)).toBe(0);
      return io.stdout;
    };
    expect(await shown(1000)).toContain(`Name:         ${ns}\n`);
    expect(await shown(5)).toBe('');
  });
  test('mistakes', async () => {
    expect((await plat.run(['describe'])).code).toBe(2);
    expect((await plat.run(['describe', 'cm', 'a', '-l', 'x=y'])).stderr).toContain('exclude each other');
    expect((await plat.run(['describe', 'cm', 'a', '-A'])).stderr).toContain('all namespaces');
    expect((await plat.run(['describe', 'cm', '-f', 'x'])).stderr).toContain('exclude each other');
    expect((await plat.run(['describe', 'cm', '--chunk-size=-1'])).stderr).toContain('--chunk-size');
    expect(await plat.run(['describe', 'secrets', '-n', ns])).toEqual({
      code: 0,
      stdout: '',
      stderr: `No resources found in ${ns} namespace.\n`,
    });
    expect((await plat.run(['describe', 'nothings'])).code).toBe(1);
  });
});

test('built-in groups have their pages under the names of every identity', async () => {
  const server = await startTestServer({ identity: 'plat', controllers: [] });
  const plat = platFor(server);
  const { groupSuffix: suffix, domain } = server.identity;
  const post = (path: string, body: Loose): Promise<Loose> => server.admin.ok('POST', path, body);
  await post(`/apis/networking.${suffix}/v1/namespaces/default/networkpolicies`, { metadata: { name: 'deny' }, spec: { podSelector: {} } });
  await post('/api/v1/nodes', { metadata: { name: 'n1', labels: { [`node-role.${domain}/worker`]: '' } } });
  const annotations = { [`storageclass.${domain}/is-default-class`]: 'true' };
  await post(`/apis/storage.${suffix}/v1/storageclasses`, { metadata: { name: 'fast', annotations }, provisioner: 'p' });
  const pages = await plat.ok(['describe', 'netpol/deny', 'node/n1', 'sc/fast']);
  expect(pages).toContain('Allowing ingress traffic:');
  expect(pages).toMatch(/^Roles: +worker$/m);
  expect(pages).toMatch(/^IsDefaultClass: +Yes$/m);
  await server.close();
});

test('where pods may not be read, the page of a node says so', async () => {
  const server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await server.admin.ok('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'nodes' },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
  });
  await server.admin.ok('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'nodes' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nodes' },
    subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const bob = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--as', 'bob']);
  const page = await bob.ok(['describe', 'node', 'n1']);
  expect(page).toMatch(/^Pods: +not authorized$/m);
  expect(page).toMatch(/^Lease: +Failed to get lease: leases.* is forbidden/m);
  expect(page).toMatch(/^Events: +<none>$/m);
  await server.close();
});
