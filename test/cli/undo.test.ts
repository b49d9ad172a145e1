import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let plat: Plat;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({});
  plat = platFor(server);
  ns = await server.namespace();
});
afterAll(() => server.close());

const path = (name = ''): string => `/api/v1/namespaces/${ns}/configmaps${name === '' ? '' : `/${name}`}`;
const configMap = (name: string, data: Loose, more: Loose = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
  data,
});
const as = (user: string): string[] => ['--as', user, '--as-group', 'system:masters'];
const applied = (user: string, ...objects: Loose[]) =>
  plat.ok(
    ['apply', '-n', ns, '--force-conflicts', '-f', '-', ...as(user)],
    objects.map((object) => JSON.stringify(object)).join('\n---\n'),
  );
const live = (name: string): Promise<Loose> => server.admin.ok('GET', path(name));

describe('plat undo of one object', () => {
  test('the last change is taken back; what is shown is what happens', async () => {
    await applied('alice', configMap('one', { a: '1' }, { labels: { x: '1' }, annotations: { note: 'old' } }));
    await server.admin.patch(path('one'), {
      data: { a: '2', b: '1' },
      metadata: { labels: { x: '2', y: '1' }, annotations: { note: 'new' } },
    });
    const { metadata } = await live('one');
    expect(await plat.run(['undo', 'cm/one', '-n', ns])).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
    expect(await plat.ok(['undo', 'cm/one', '-n', ns, '--dry-run=server'])).toContain('configmap/one restored (server dry run)\n');
    expect((await live('one')).metadata).toEqual(metadata);
    const stdout = await plat.ok(['undo', 'cm/one', '-n', ns, '--yes']);
    expect(stdout).toMatch(/^restore {2}configmap\/one {2}takes back metadata\.labels\.x 1 → 2, .*, 2 more \d\d:\d\d by admin\n/);
    expect(stdout).toContain('-  a: "2"\n-  b: "1"\n+  a: "1"\n');
    const undone = await live('one');
    expect(undone.data).toEqual({ a: '1' });
    expect(undone.metadata).toMatchObject({ uid: metadata.uid, labels: { x: '1' }, annotations: { note: 'old' } });
    await plat.ok(['undo', 'cm/one', '-n', ns, '-y']);
    expect((await live('one')).data).toEqual({ a: '2', b: '1' });
  });

  test('labels and annotations come back; finalizers and owners stay, and a later change of them is named', async () => {
    await applied('alice', configMap('owner-of-held', {}));
    const { uid } = (await live('owner-of-held')).metadata;
    await applied('alice', configMap('held-one', { a: '1' }, { labels: { x: '1' }, annotations: { note: 'old' } }));
    await server.admin.patch(path('held-one'), { metadata: { labels: { x: '2' }, annotations: { note: 'new' } } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner-of-held', uid }];
    const holds = { finalizers: ['example.com/hold'], ownerReferences };
    await server.admin.patch(path('held-one'), { metadata: holds });
    const { code, stdout, stderr } = await plat.run(['undo', 'cm/held-one', '-n', ns, '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain('metadata.labels.x 1 → 2');
    expect(stderr).toMatch(/^note: the later change of \d\d:\d\d by admin stays: undo restores neither finalizers nor owner references$/m);
    expect((await live('held-one')).metadata).toMatchObject({ labels: { x: '1' }, annotations: { note: 'old' }, ...holds });
    await server.admin.patch(path('held-one'), { data: { a: '2' } });
    expect((await plat.run(['undo', 'cm/held-one', '-n', ns, '--yes'])).stderr).not.toContain('note:');
    expect(await live('held-one')).toMatchObject({ data: { a: '1' }, metadata: holds });
    await server.admin.patch(path('held-one'), { metadata: { finalizers: null } });
  });

  test('a deleted object is made anew, one that was created is deleted, and --to names a version', async () => {
    await applied('alice', configMap('gone', { a: '1' }));
    const { metadata } = await live('gone');
    await applied('alice', configMap('gone', { a: '2' }));
    await plat.ok(['delete', 'cm/gone', '-n', ns]);
    expect(await plat.ok(['undo', 'cm/gone', '-n', ns, '--yes'])).toContain('configmap/gone created anew\n');
    const anew = await live('gone');
    expect(anew.data).toEqual({ a: '2' });
    expect(anew.metadata.uid).not.toBe(metadata.uid);
    await plat.ok(['undo', 'cm/gone', '-n', ns, '--to', metadata.resourceVersion, '--yes']);
    expect((await live('gone')).data).toEqual({ a: '1' });
    expect(await plat.ok(['undo', 'cm/gone', '-n', ns, '--to', metadata.resourceVersion, '--yes'])).toBe(
      'configmap/gone is as it was already\n',
    );
    await applied('alice', configMap('new', { a: '1' }));
    expect(await plat.ok(['undo', 'cm/new', '-n', ns, '--yes'])).toContain('configmap/new deleted\n');
    expect((await server.admin.get(path('new'))).status).toBe(404);
  });

  test('the spec that a deployment had comes back although its controller has written since', async () => {
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
    const created = await server.admin.ok('POST', deployments, { metadata: { name: 'web' }, spec });
    await plat.ok(['scale', 'deployment/web', '--replicas=5', '-n', ns, ...as('alice')]);
    const status = { ...(await server.admin.ok('GET', `${deployments}/web`)), status: { replicas: 5 } };
    await server.admin.ok('PUT', `${deployments}/web/status`, status);
    expect(await plat.ok(['undo', 'deployment/web', '-n', ns, '--yes'])).toContain('spec.replicas 3 → 5');
    const undone = await server.admin.ok('GET', `${deployments}/web`);
    expect(undone.spec).toEqual(created.spec);
    expect(undone.status.replicas).toBe(5);
  });

  test('undo --to names the change that it takes back, not a later write of the status', async () => {
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const template = { metadata: { labels: { app: 'blamed' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const spec = { replicas: 3, selector: { matchLabels: { app: 'blamed' } }, template };
    const { metadata } = await server.admin.ok('POST', deployments, { metadata: { name: 'blamed' }, spec });
    const headingOf = async (): Promise<string | undefined> =>
      (await plat.ok(['undo', 'deployment/blamed', '-n', ns, '--to', metadata.resourceVersion, '--dry-run=client'])).split('\n')[0];
    const scale = async (replicas: number, user: string): Promise<void> => {
      await plat.ok(['scale', 'deployment/blamed', `--replicas=${replicas}`, '-n', ns, ...as(user)]);
      const status = { ...(await server.admin.ok('GET', `${deployments}/blamed`)), status: { replicas } };
      await server.admin.ok('PUT', `${deployments}/blamed/status`, status);
    };
    await scale(6, 'alice');
    expect(await headingOf()).toMatch(/^restore {2}deployment\.apps\/blamed {2}takes back spec\.replicas 3 → 6 \d\d:\d\d by alice$/);
    await scale(7, 'bob');
    expect(await headingOf()).toMatch(/ takes back spec\.replicas 6 → 7 \d\d:\d\d by bob, and the change before it$/);
  });

  test('what cannot be undone is refused: values that are not kept, a lost owner, immutable fields', async () => {
    const secret = ['create', 'secret', 'generic', 'key', '-n', ns, '--from-literal=pass=hunter2'];
    await plat.ok(secret);
    await plat.ok(['patch', 'secret', 'key', '-n', ns, '-p', '{"stringData":{"pass":"other"}}']);
    expect((await plat.run(['undo', 'secret/key', '-n', ns, '--yes'])).stderr).toContain('its values are not kept in history');
    await plat.ok(['delete', 'secret/key', '-n', ns]);
    expect((await plat.run(['undo', 'secret/key', '-n', ns, '--yes'])).stderr).toContain('its values are not kept in history');

    const { uid } = await applied('alice', configMap('owner', {})).then(async () => (await live('owner')).metadata);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await server.admin.ok('POST', path(), configMap('owned', { a: '1' }, { ownerReferences }));
    await server.admin.ok('DELETE', path('owned'));
    await server.admin.ok('DELETE', path('owner'));
    expect((await plat.run(['undo', 'cm/owned', '-n', ns, '-y'])).stderr).toContain('its owner ConfigMap "owner" is gone');
    await plat.ok(['undo', 'cm/owner', '-n', ns, '-y']);
    await plat.ok(['undo', 'cm/owned', '-n', ns, '-y']);
    expect((await live('owned')).metadata.ownerReferences[0].uid).toBe((await live('owner')).metadata.uid);

    await server.admin.ok('POST', path(), configMap('fixed', { a: '1' }));
    await server.admin.ok('PUT', path('fixed'), { ...configMap('fixed', { a: '2' }), immutable: true });
    const refused = await plat.run(['undo', 'cm/fixed', '-n', ns, '--yes']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('immutable') });
    expect(await plat.run(['undo', 'cm/never', '-n', ns, '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not found'),
    });
    expect(await plat.run(['undo', '-n', ns])).toMatchObject({ code: 2 });
  });

  test('a job is made anew with a selector of its own', async () => {
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } };
    await server.admin.ok('POST', jobs, { metadata: { name: 'once' }, spec });
    await server.admin.ok('DELETE', `${jobs}/once?propagationPolicy=Background`);
    await plat.ok(['undo', 'job/once', '-n', ns, '--yes']);
    const job = await server.admin.ok('GET', `${jobs}/once`);
    expect(Object.values(job.spec.selector.matchLabels)).toContain(job.metadata.uid);
  });
});

describe('plat undo of many changes', () => {
  test('a deletion that waited for a finalizer is that of the user who asked for it, whoever ended it', async () => {
    await server.admin.ok('POST', path(), configMap('held', { a: '1' }, { finalizers: ['example.com/hold'] }));
    await plat.ok(['delete', 'cm/held', '-n', ns, '--wait=false', ...as('trudy')]);
    const undo = ['undo', '--since', '1h', '--by', 'trudy', '-n', ns, '--yes'];
    expect(await plat.run(undo)).toMatchObject({ code: 1, stdout: expect.stringContaining('it is being deleted') });
    expect(await plat.run(['undo', 'cm/held', '-n', ns, '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it is being deleted'),
    });
    await server.admin.patch(path('held'), { metadata: { finalizers: null } });
    expect((await server.admin.get(path('held'))).status).toBe(404);
    expect(await plat.ok(undo)).toContain('configmap/held created anew\n');
    expect(await live('held')).toMatchObject({ data: { a: '1' }, metadata: { finalizers: ['example.com/hold'] } });
  });

  test('what a user did since a time is undone in order, and what others changed since is left', async () => {
    const many = await server.namespace();
    const at = (name: string): string => `/api/v1/namespaces/${many}/configmaps/${name}`;
    const send = (user: string, ...objects: Loose[]) =>
      plat.ok(
        ['apply', '-n', many, '--force-conflicts', '-f', '-', ...as(user)],
        objects.map((object) => JSON.stringify(object)).join('\n---\n'),
      );
    await send('alice', ...['changed', 'deleted', 'owner', 'both'].map((name) => configMap(name, { a: '1' })));
    const { uid } = (await server.admin.ok('GET', at('owner'))).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await send('alice', configMap('dependent', { a: '1' }, { ownerReferences }));
    await send('mallory', ...['changed', 'both', 'new'].map((name) => configMap(name, { a: '2' })));
    await plat.ok(['delete', 'cm', 'dependent', 'deleted', 'owner', '-n', many, ...as('mallory')]);
    await send('bob', configMap('both', { a: '3' }));

    const command = ['undo', '--since', '1h', '--by', 'mallory', '-n', many];
    const preview = await plat.run([...command, '--dry-run=client']);
    const places = ['owner', 'dependent', 'changed', 'new'].map((name) => preview.stdout.indexOf(`configmap/${name} `));
    expect(places.every((place, i) => place > (places[i - 1] ?? -1))).toBe(true);
    expect(preview.stdout).toMatch(/skip +configmap\/both: bob has changed it since/);
    expect(await plat.run([...command, '--dry-run=server'])).toMatchObject({
      stdout: expect.stringContaining('5 undone, 1 not (server dry run)\n'),
    });
    expect((await server.admin.get(at('owner'))).status).toBe(404);
    expect(await plat.run([...command, '--yes'])).toMatchObject({ code: 1, stdout: expect.stringContaining('5 undone, 1 not\n') });
    const dataOf = async (name: string): Promise<Loose> => (await server.admin.get(at(name))).json.data?.a;
    expect(await Promise.all(['changed', 'deleted', 'owner', 'dependent', 'both', 'new'].map(dataOf))).toEqual([
      '1',
      '1',
      '1',
      '1',
      '3',
      undefined,
    ]);
    const dependent = await server.admin.ok('GET', at('dependent'));
    expect(dependent.metadata.ownerReferences[0].uid).toBe((await server.admin.ok('GET', at('owner'))).metadata.uid);
  });

  test('--force overwrites what others changed since; nothing left to undo is no failure', async () => {
    await applied('alice', configMap('forced', { a: '1' }));
    await applied('eve', configMap('forced', { a: '2' }));
    await applied('bob', configMap('forced', { a: '3' }));
    const command = ['undo', '--since', '1h', '--by', 'eve', '-n', ns, '--yes'];
    expect(await plat.run(command)).toMatchObject({ code: 1, stdout: expect.stringContaining('bob has changed it since') });
    await plat.ok([...command, '--force', '--kind', 'configmaps']);
    expect((await live('forced')).data).toEqual({ a: '1' });
    expect(await plat.ok(['undo', '--since', '1h', '--by', 'nobody', '-n', ns])).toBe('No changes by nobody\n');
    expect(await plat.run(['undo', '--since', '1h', '-n', ns])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('whose changes?'),
    });
    expect(await plat.run(['undo', '--by', 'eve', '-n', ns])).toMatchObject({ code: 2, stderr: expect.stringContaining('since when?') });
    expect(await plat.run(['undo', 'cm/a', '--by', 'eve', '--since', '1h'])).toMatchObject({ code: 2 });
  });
});

describe('secrets whose values are kept', () => {
  test('undo restores them; no command shows them', async () => {
    const keeping = await startTestServer({ historyRules: ['secrets=1d,values'] });
    try {
      const own = platFor(keeping);
      const created = await keeping.admin.ok('POST', '/api/v1/namespaces/default/secrets', {
        metadata: { name: 'key' },
        stringData: { pass: 'hunter2' },
      });
      await own.ok(['patch', 'secret', 'key', '-p', '{"stringData":{"pass":"swordfish"}}']);
      const shown = [
        await own.ok(['history', 'secret/key']),
        await own.ok(['log', '--kind', 'secrets']),
        await own.ok(['log', '--kind', 'secrets', '-o', 'json']),
        (await own.run(['diff', 'secret/key', '--from', created.metadata.resourceVersion])).stdout,
        await own.ok(['undo', 'secret/key', '--yes']),
      ];
      expect(shown[1]).toContain('secret/key  data.pass changed  admin');
      expect(shown[3]).toContain("-  pass: '*** (before)'\n+  pass: '*** (after)'\n");
      for (const text of ['hunter2', 'swordfish']) expect(shown.join()).not.toContain(Buffer.from(text).toString('base64'));
      expect((await keeping.admin.ok('GET', '/api/v1/namespaces/default/secrets/key')).data).toEqual(created.data);
    } finally {
      await keeping.close();
    }
  });
});
