/**
 * Everything about history and why, asked by users with few rights: no answer has a word of what they may not read. The same
 * questions of the administrator show each of these words, so that a leak would be seen.
 */
import { beforeAll, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { platFor } from '../support/plat.ts';
import type { Client, Loose, TestServer } from '../support/server.ts';
import { onPeers, onStores } from '../support/stores.ts';

const rbac = 'rbac.authorization.plat.dev';
const explain = '/apis/explain.plat.dev/v1alpha1';
const custom = 'leaks.example.com';

/** What only the administrator may see. Names stand for themselves; nobody asks by them. */
const words = {
  hiddenName: 'quartz-name',
  hiddenValue: 'quartz-value',
  hiddenWidget: 'quartz-widget',
  secretName: 'topaz-secret',
  secretValue: 'topaz-value',
  bindingOfOthers: 'beryl-binding',
  refusedToOthers: 'beryl-refused',
  dependent: 'agate-dependent',
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const isIn = (text: string, word: string): boolean => text.includes(word) || text.includes(base64(word));

const settings = { shop: '/api/v1/namespaces/shop', vault: '/api/v1/namespaces/vault' };

async function fill(server: TestServer): Promise<void> {
  const { admin } = server;
  for (const name of ['shop', 'vault']) await admin.ok('POST', '/api/v1/namespaces', { metadata: { name } });
  await define(
    server,
    definitionOf(server, custom, 'Widget', [{ schema: { type: 'object', 'x-plat.dev-preserve-unknown-fields': true } }]),
  );
  const widgets = (namespace: string): string => `/apis/${custom}/v1/namespaces/${namespace}/widgets`;
  const widget = (name: string) => ({ apiVersion: `${custom}/v1`, kind: 'Widget', metadata: { name } });
  for (const [path, object] of [
    [`${settings.shop}/configmaps`, { metadata: { name: 'plain' }, data: { a: '1' } }],
    [`${settings.vault}/configmaps`, { metadata: { name: words.hiddenName }, data: { a: words.hiddenValue } }],
    [`${settings.vault}/configmaps`, { metadata: { name: 'asked' }, data: { a: words.hiddenValue } }],
    [`${settings.shop}/secrets`, { metadata: { name: words.secretName }, stringData: { a: words.secretValue } }],
    [`${settings.shop}/secrets`, { metadata: { name: 'asked' }, stringData: { a: words.secretValue } }],
    [widgets('shop'), widget('plain')],
    [widgets('vault'), widget(words.hiddenWidget)],
  ] as const) {
    const { metadata } = await admin.ok('POST', path, object);
    expect((await admin.patch(`${path}/${metadata.name}`, { metadata: { labels: { changed: 'yes' } } })).status).toBe(200);
  }
  const parent = await admin.ok('POST', `${settings.shop}/configmaps`, { metadata: { name: 'parent' } });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid: parent.metadata.uid, blockOwnerDeletion: true };
  await admin.ok('POST', `${settings.shop}/secrets`, {
    metadata: { name: words.dependent, ownerReferences: [owner], finalizers: ['example.com/hold'] },
  });
  await admin.ok('DELETE', `${settings.shop}/configmaps/parent`, { propagationPolicy: 'Foreground' });
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ apiGroup: rbac, kind: 'User', name: 'mallory' }];
  await admin.ok('POST', `/apis/${rbac}/v1/namespaces/shop/rolebindings`, { metadata: { name: words.bindingOfOthers }, roleRef, subjects });
}

async function grant({ admin }: TestServer, user: string, rules: readonly Loose[]): Promise<void> {
  const path = `/apis/${rbac}/v1/namespaces/shop`;
  await admin.ok('POST', `${path}/roles`, { metadata: { name: user }, rules });
  const roleRef = { apiGroup: rbac, kind: 'Role', name: user };
  await admin.ok('POST', `${path}/rolebindings`, {
    metadata: { name: user },
    roleRef,
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
}

const forms = ['application/json', 'application/yaml', 'application/vnd.plat.protobuf', 'application/json;as=Table;v=v1;g=meta.plat.dev'];
/** `past`: a version that watches no longer go back to. */
function reads(past: string): string[] {
  const exactly = `resourceVersion=${past}&resourceVersionMatch=Exact`;
  const places = ['/api/v1', settings.shop, settings.vault].flatMap((at) =>
    ['configmaps', 'secrets', 'widgets'].map((plural) => {
      const path = `${at}/${plural}`;
      return plural === 'widgets' ? path.replace('/api/v1', `/apis/${custom}/v1`) : path;
    }),
  );
  const objects = [`${settings.vault}/configmaps/asked`, `${settings.shop}/secrets/asked`, `${settings.shop}/configmaps/plain`];
  return [...places, ...objects].flatMap((path) => ['history=true', 'history=full', exactly].map((query) => `${path}?${query}`));
}
const objectQuestions = [
  { resource: 'configmaps', namespace: 'shop', name: 'parent' },
  { resource: 'configmaps', namespace: 'vault', name: 'asked' },
  { resource: 'secrets', namespace: 'shop', name: 'asked' },
  { resource: 'namespaces', name: 'vault' },
];
const accesses = ['shop', 'vault', ''].map((namespace) => ({ verb: 'delete', resource: 'pods', namespace }));
const questions: readonly (readonly [plural: string, kind: string, spec: Loose])[] = [
  ...['Deletion', 'Pending', 'Readiness'].flatMap((about) =>
    objectQuestions.map((spec) => [`${about.toLowerCase()}explanations`, `${about}Explanation`, spec] as const),
  ),
  ...accesses.flatMap((resourceAttributes) => [
    ['accessexplanations', 'AccessExplanation', { resourceAttributes }] as const,
    ['subjectsearches', 'SubjectSearch', { resourceAttributes }] as const,
  ]),
  ['accessexplanations', 'AccessExplanation', { resourceAttributes: accesses[0], user: 'mallory' }],
  ['refusalsearches', 'RefusalSearch', {}],
  ['refusalsearches', 'RefusalSearch', { user: 'bob' }],
  ['slowrequestsearches', 'SlowRequestSearch', {}],
  ['slowrequestsearches', 'SlowRequestSearch', { allUsers: true }],
];

/** All that the endpoints answer, in each form. */
async function answers(client: Client, past: string): Promise<string> {
  const texts: string[] = [];
  const sent = async (method: string, path: string, accept: string, body?: unknown): Promise<void> => {
    const { bytes } = await client.send(method, path, { headers: { accept }, body });
    texts.push(bytes.toString('latin1'));
  };
  for (const accept of forms) {
    for (const path of reads(past)) await sent('GET', path, accept);
    for (const [plural, kind, spec] of questions)
      if (!accept.includes('Table'))
        await sent('POST', `${explain}/${plural}`, accept, { apiVersion: 'explain.plat.dev/v1alpha1', kind, spec });
  }
  return texts.join('\n');
}

const commands = [
  'history configmaps -n shop',
  'history configmaps -A',
  'history cm/asked -n vault -o json',
  'history secrets -n shop -o yaml',
  'history secret/asked -n shop -o json',
  `history widgets.${custom} -A -o wide`,
  'log -A --limit 0',
  'log -n shop -o json --limit 0',
  'log -n vault',
  'diff cm/asked -n vault --from 1h',
  'diff secret/asked -n shop --from 1h',
  'get configmaps,secrets -A --at 1s',
  'get configmaps -n vault --at 1s -o yaml',
  'undo cm/asked -n vault --dry-run=client',
  'undo secret/asked -n shop --dry-run=client',
  'undo --since 1h --by admin -n shop --dry-run=client',
  'undo --since 1h --by admin -A --dry-run=client',
  'why denied delete pods -n shop',
  'why allowed get configmaps -n shop',
  'who can delete pods -n shop',
  'why not deleted cm/parent -n shop',
  'why not deleted namespaces/vault',
  'why not ready secret/asked -n shop',
  'why pending asked -n vault',
  'why slow --all-users',
  'why slow',
  'owners secret/asked -n shop',
  'owners cm/asked -n vault -o json',
  'why conflict -f FILE -n shop',
  'why rejected -f FILE -n shop',
];
/** All that the commands print, of which these are asked. */
async function outputs(server: TestServer, flags: readonly string[], asked: readonly string[]): Promise<string> {
  const plat = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, ...flags]);
  const file = plat.file('secret.json', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'asked' }, stringData: { b: '2' } });
  const texts: string[] = [];
  for (const command of asked) {
    const { stdout, stderr } = await plat.run(command.replace('FILE', file).split(' '));
    texts.push(`$ ${command}\n${stdout}${stderr}`);
  }
  return texts.join('\n');
}

/** `asked`: where the requests go. */
function nothingLeaks(filled: () => TestServer, asked: () => readonly TestServer[]): void {
  let past: string;
  beforeAll(async () => {
    const server = filled();
    await fill(server);
    past = String(await server.engine.currentRevision());
    await server.admin.ok('POST', `${settings.shop}/configmaps`, { metadata: { name: 'later' } });
    await server.engine.compact(await server.engine.currentRevision());
    const explained = { apiGroups: ['explain.plat.dev'], resources: ['*'], verbs: ['create'] };
    const read = { apiGroups: ['', custom], resources: ['configmaps', 'widgets', 'pods'], verbs: ['get', 'list', 'watch', 'history'] };
    await grant(server, 'alice', [read, explained]);
    for (const one of asked()) await one.bob.get(`/api/v1/namespaces/vault/pods/${words.refusedToOthers}`);
  });

  test('of what the administrator sees by the same questions', async () => {
    for (const server of asked()) {
      const { admin } = server;
      const printed = await outputs(server, [], commands);
      const text = (await answers(admin, past)).concat(printed);
      expect(Object.entries(words).filter(([, word]) => !isIn(text, word))).toEqual([]);
      // A version that is the present one is read as by a get; nothing else shows values of secrets, whatever the rights.
      expect(isIn(printed, words.secretValue)).toBe(false);
    }
  });

  test('without rights, with rights in one namespace, and as another user', async () => {
    for (const server of asked()) {
      await expect.poll(async () => (await server.alice.get(`${settings.shop}/configmaps?history=true`)).status).toBe(200);
      const actingAsAlice = server.admin.clone({ headers: { 'impersonate-user': 'alice' } });
      const carol = server.admin.clone({ headers: { 'impersonate-user': 'carol', 'impersonate-group': 'system:authenticated' } });
      const callers = { alice: server.alice, actingAsAlice, carol, anonymous: server.anonymous };
      for (const [who, client] of Object.entries(callers)) {
        const text = await answers(client, past);
        const seen = Object.entries(words).filter(([, word]) => isIn(text, word));
        expect(seen, who).toEqual([]);
      }
      for (const flags of [
        ['--token', 'alice-token'],
        ['--as', 'alice'],
      ]) {
        const isImpersonated = flags[0] === '--as';
        // With --as these two are questions of the administrator about alice.
        const text = await outputs(
          server,
          flags,
          isImpersonated ? commands.filter((command) => !/^why (denied|allowed)/.test(command)) : commands,
        );
        const seen = Object.entries(words).filter(([, word]) => isIn(text, word));
        expect(seen, flags.join(' ')).toEqual([]);
        expect(text).toMatch(/configmap\/plain|plain/);
      }
    }
  });
}

const options = { slowRequestThreshold: 0, disableAdmissionPlugins: ['ServiceAccount'] };
onStores(['memory', 'lmdb'], options, (server) => nothingLeaks(server, () => [server()]));
onPeers(options, (one, two) => nothingLeaks(one, () => [one(), two()]));
