/** `plat history`, `plat diff --from`, `plat get --at` and `plat log`; `plat undo` on a terminal. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
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

describe('plat history', () => {
  test('of one object: a line for each change, the newest first', async () => {
    await applied('alice', configMap('lines', { replicas: '3' }));
    await applied('bob', configMap('lines', { replicas: '5' }));
    await plat.ok(['delete', 'cm/lines', '-n', ns, ...as('alice')]);
    const lines = (await plat.ok(['history', 'cm/lines', '-n', ns])).split('\n').map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['VERSION', 'AGE', 'USER', 'MANAGER', 'VERB', 'CHANGE']);
    expect(lines.slice(1, 4).map((line) => line.slice(2))).toEqual([
      ['alice (by admin)', 'plat', 'delete', 'deleted'],
      ['bob (by admin)', 'plat', 'apply', 'data.replicas 3 → 5'],
      ['alice (by admin)', 'plat', 'apply', 'created'],
    ]);
    const { items } = await plat.json(['history', 'cm/lines', '-n', ns, '--by', 'bob']);
    expect(items).toEqual([expect.objectContaining({ kind: 'ConfigMap', name: 'lines', user: 'bob', type: 'updated' })]);
    expect(await plat.ok(['history', 'cm/lines', '-n', ns, '-o', 'wide'])).toContain('USER AGENT');
    expect(await plat.ok(['history', 'cm', 'lines', '-n', ns, '-o', 'yaml'])).toContain('change: data.replicas 3 → 5');
  });

  test('of a kind: deleted objects included, in pages and limited', async () => {
    const all = await plat.ok(['history', 'configmaps', '-n', ns, '--limit', '0']);
    expect(all).toMatch(/^VERSION +NAME +AGE/);
    expect(all).toMatch(/ lines .* deleted\n/);
    const newest = await plat.run(['history', 'configmaps', '-n', ns, '--limit', '1', '--no-headers']);
    expect(newest).toMatchObject({ code: 0, stderr: 'note: there are older changes; --limit 0 shows all\n' });
    expect(newest.stdout.split('\n')).toHaveLength(2);
    expect((await plat.json(['history', 'cm', '-A', '--since', '2999-01-01T00:00:00Z'])).items).toEqual([]);
  });

  test('a user without changes is named, with the service account of that short name', async () => {
    const own = await server.namespace();
    const account = `system:serviceaccount:${own}:bob`;
    await plat.ok(['create', 'configmap', 'a', '-n', own, ...as(account)]);
    for (const command of [['history', 'cm/a'], ['history', 'cm'], ['log'], ['undo', '--since', '1h']]) {
      const said = async (user: string): Promise<string> => {
        const { code, stdout, stderr } = await plat.run([...command, '-n', own, '--by', user]);
        expect(code).toBe(0);
        return stdout + stderr;
      };
      expect(await said('bob'), command.join(' ')).toBe(`No changes by bob; did you mean --by ${account}?\n`);
      expect(await said('ob'), command.join(' ')).toBe('No changes by ob\n');
    }
  });

  test('what cannot be shown is an error that says why', async () => {
    for (const command of [
      ['history', 'cm/none'],
      ['undo', 'cm/none', '--yes'],
    ])
      expect(await plat.run([...command, '-n', ns])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`configmaps "none" not found in namespace "${ns}"`),
      });
    const wrong = await plat.run(['history', 'cm/lines', '--since', 'yesterday']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('it must be a time such as 10m (ago), 10:32') });
    expect(await plat.run(['history', 'cm/lines', '-A'])).toMatchObject({ code: 2 });
  });
});

describe('plat diff of versions', () => {
  test('between versions, times and now', async () => {
    await applied('alice', configMap('compared', { a: '1' }));
    const { resourceVersion } = (await live('compared')).metadata;
    expect(await plat.run(['diff', 'cm/compared', '-n', ns, '--from', resourceVersion])).toMatchObject({ code: 0, stdout: '' });
    await applied('alice', configMap('compared', { a: '2' }));
    const changed = await plat.run(['diff', 'cm/compared', '-n', ns, '--from', resourceVersion, '--to', 'now']);
    expect(changed).toMatchObject({ code: 1, stderr: '' });
    expect(changed.stdout).toContain(`--- ${resourceVersion}/configmap/compared\n+++ now/configmap/compared\n`);
    expect(changed.stdout).toContain('-  a: "1"\n+  a: "2"\n');
    const created = await plat.run(['diff', 'cm/compared', '-n', ns, '--from', '1', '--to', resourceVersion]);
    expect(created).toMatchObject({ code: 1, stdout: expect.stringContaining('+  a: "1"\n') });
    expect(await plat.run(['diff', 'cm/compared', '-n', ns])).toMatchObject({ code: 2, stderr: expect.stringContaining('--from') });
    expect(await plat.run(['diff', 'cm/compared', '-n', ns, '--from', 'soon'])).toMatchObject({ code: 2 });
  });

  test('the status, which controllers write all the time, is compared on request only', async () => {
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template };
    const { metadata } = await server.admin.ok('POST', deployments, { metadata: { name: 'reported' }, spec });
    const { status } = await server.admin.patch(`${deployments}/reported/status`, { status: { collisionCount: 7 } });
    expect(status).toBe(200);
    const diff = ['diff', 'deployment/reported', '--from', metadata.resourceVersion, '-n', ns];
    const onlyStatus = 'note: only the status is different; --status compares it\n';
    expect(await plat.run(diff)).toEqual({ code: 0, stdout: '', stderr: onlyStatus });
    expect(await plat.run([...diff, '--status'])).toMatchObject({ code: 1, stdout: expect.stringContaining('+  collisionCount: 7') });
  });

  test('values of secrets are neither shown nor taken as different where they are not kept', async () => {
    await plat.ok(['create', 'secret', 'generic', 'compared', '-n', ns, '--from-literal=pass=hunter2']);
    const { resourceVersion } = (await server.admin.ok('GET', `/api/v1/namespaces/${ns}/secrets/compared`)).metadata;
    const same = await plat.run(['diff', 'secret/compared', '-n', ns, '--from', resourceVersion]);
    expect(same).toMatchObject({ code: 0, stdout: '', stderr: 'note: values are not kept in history, and not compared\n' });
  });
});

describe('plat get --at', () => {
  test('kinds, categories and objects are shown as they were at a version or a time', async () => {
    const past = await server.namespace();
    const create = (name: string) => plat.ok(['create', 'service', 'clusterip', name, '--tcp=80', '-n', past]);
    await create('first');
    const { resourceVersion } = (await server.admin.ok('GET', `/api/v1/namespaces/${past}/services/first`)).metadata;
    await plat.ok(['label', 'service', 'first', 'x=1', '-n', past]);
    await create('second');
    await plat.ok(['delete', 'service', 'first', '-n', past]);
    const names = (...args: string[]) => plat.ok(['get', ...args, '-n', past, '-o', 'name']);
    expect(await names('services')).toBe('service/second\n');
    expect(await names('services', '--at', resourceVersion)).toBe('service/first\n');
    expect(await names('all', '--at', resourceVersion)).toBe('service/first\n');
    expect(await plat.ok(['get', 'all', '-n', past, '--at', resourceVersion])).toMatch(/^NAME .*\nservice\/first .*\n$/);
    expect((await plat.json(['get', 'service', 'first', '-n', past, '--at', resourceVersion])).metadata.labels?.x).toBeUndefined();
    const { items } = await plat.json(['history', 'services', '-n', past]);
    const [, secondCreated, labelled] = items as Loose[];
    expect(await names('services', '--at', secondCreated.time)).toBe('service/first\nservice/second\n');
    expect((await plat.json(['get', 'service', 'first', '-n', past, '--at', labelled.time])).metadata.labels.x).toBe('1');
    expect(await names('services', '--at', '0s')).toBe('service/second\n');
    for (const moment of [resourceVersion, '10m'])
      expect(await plat.run(['get', 'service', 'second', '-n', past, '--at', moment])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/services "second" did not exist then: it was created \d\d:\d\d \(version \d+\)/),
      });
    await server.engine.compact(await server.engine.currentRevision());
    expect(await names('services', '--at', secondCreated.time, '--chunk-size', '1')).toBe('service/first\nservice/second\n');
    expect(await plat.run(['get', 'services', '--at', '10m', '-w'])).toMatchObject({ code: 2 });
    expect(await plat.run(['get', 'services', '--at', 'soon'])).toMatchObject({ code: 2, stderr: expect.stringContaining('10:32') });
  });
});

describe('plat log', () => {
  test('changes are lines as people would say them, the newest last; values of secrets are not shown', async () => {
    const logged = await server.namespace();
    const create = ['create', '-n', logged, ...as('alice')];
    await plat.ok([...create, 'configmap', 'settings', '--from-literal=size=3']);
    await plat.ok([...create, 'secret', 'generic', 'key', '--from-literal=pass=hunter2']);
    await plat.ok(['patch', 'cm', 'settings', '-n', logged, '-p', '{"data":{"size":"5"}}', ...as('bob')]);
    await plat.ok(['patch', 'secret', 'key', '-n', logged, '-p', '{"stringData":{"pass":"swordfish"}}', ...as('bob')]);
    const stdout = await plat.ok(['log', '-n', logged, '--kind', 'configmaps,secrets', '--manager', 'plat']);
    expect(stdout.replace(/^\d\d:\d\d /gm, '')).toBe(
      [
        'configmap/settings  created  alice (plat)',
        'secret/key  created  alice (plat)',
        'configmap/settings  data.size 3 → 5  bob (plat)',
        'secret/key  values that are not kept  bob (plat)',
        '',
      ].join('\n'),
    );
    const byBob = await plat.ok(['log', '-n', logged, '--by', 'bob', '-o', 'json']);
    const lines = byBob
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Loose);
    expect(lines.map(({ kind, name, user }) => `${kind} ${name} ${user}`)).toEqual(['ConfigMap settings bob', 'Secret key bob']);
    for (const text of ['hunter2', 'swordfish']) expect(byBob).not.toContain(Buffer.from(text).toString('base64'));
    expect(await plat.ok(['log', '-A', '--by', 'bob'])).toContain(` ${logged}/configmap/settings  `);
    expect(await plat.run(['log', 'web'])).toMatchObject({ code: 2, stderr: expect.stringContaining('plat logs') });
  });

  test('-f goes on with changes of all kinds until it is interrupted', async () => {
    const followed = await server.namespace();
    const { io, code } = plat.start(['log', '-f', '-n', followed, '--by', 'alice']);
    const create = ['create', '-n', followed, 'configmap'];
    // Changes before and after the watches begin are shown alike.
    await plat.ok([...create, 'first', '--from-literal=a=1', ...as('alice')]);
    await io.said('configmap/first  created  alice');
    await plat.ok([...create, 'other', ...as('bob')]);
    await plat.ok(['patch', 'cm', 'first', '-n', followed, '-p', '{"data":{"a":"2"}}', ...as('alice')]);
    await io.said('configmap/first  data.a 1 → 2  alice');
    await plat.ok(['delete', 'cm/first', '-n', followed, ...as('alice')]);
    await io.said('configmap/first  deleted  alice');
    io.send('SIGINT');
    expect(await code).toBe(0);
    expect(io.stdout).not.toContain('bob');
    expect(io.stdout.trim().split('\n')).toHaveLength(3);
  });
});

describe('on a terminal', () => {
  test('undo asks before it changes anything, and log has colours', async () => {
    await applied('alice', configMap('asked', { a: '1' }));
    await applied('alice', configMap('asked', { a: '2' }));
    const answered = async (answer: string, ...args: string[]) => {
      const terminal = {
        ...testIO().terminal,
        input: Readable.from([`${answer}\n`]),
        interactive: true,
        size: () => ({ width: 200, height: 1000 }),
      };
      const io = testIO({ terminal });
      const code = await run([...args, '-n', ns, '--kubeconfig', server.running.adminConfigPath], io);
      return { code, stdout: io.stdout, stderr: io.stderr };
    };
    const refused = await answered('n', 'undo', 'cm/asked');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('+  a: "1"') });
    expect(refused.stderr).toBe('Undo this change of configmap/asked? [y/N] nothing was changed\n');
    expect((await live('asked')).data).toEqual({ a: '2' });
    expect((await answered('no', 'undo', '--since', '1h', '--by', 'alice', '--kind', 'cm')).stderr).toContain(
      'changes? [y/N] nothing was changed\n',
    );
    expect(await answered('y', 'undo', 'cm/asked')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('configmap/asked restored\n'),
    });
    expect((await live('asked')).data).toEqual({ a: '1' });
    expect((await answered('', 'log', '--kind', 'cm', '--by', 'alice')).stdout).toContain(
      '\u001b[1mconfigmap/asked\u001b[0m  data.a 1 → 2  \u001b[36malice (plat)\u001b[0m\n',
    );
  });
});

describe('rights and servers without history', () => {
  test('the verb history is needed, and kinds that a user may not read are left out', async () => {
    const own = await server.namespace();
    const rbac = `/apis/rbac.authorization.plat.dev/v1/namespaces/${own}`;
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
    const role = await server.admin.ok('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules: [rule] });
    const subjects = [{ kind: 'User', name: 'carol', apiGroup: 'rbac.authorization.plat.dev' }];
    const roleRef = { kind: 'Role', name: 'reader', apiGroup: 'rbac.authorization.plat.dev' };
    await server.admin.ok('POST', `${rbac}/rolebindings`, { metadata: { name: 'reader' }, subjects, roleRef });
    await plat.ok(['create', 'configmap', 'a', '-n', own]);
    const carol = ['-n', own, '--as', 'carol'];
    for (const command of [['history', 'cm/a'], ['history', 'cm'], ['undo', 'cm/a', '--yes'], ['log'], ['diff', 'cm/a', '--from', '1']]) {
      const { code, stdout, stderr } = await plat.run([...command, ...carol]);
      expect({ code, stdout }, command.join(' ')).toEqual({ code: command[0] === 'diff' ? 2 : 1, stdout: '' });
      expect(stderr).toContain('cannot history resource');
    }
    await server.admin.ok('PUT', `${rbac}/roles/reader`, { ...role, rules: [{ ...rule, verbs: [...rule.verbs, 'history'] }] });
    expect(await plat.ok(['history', 'cm/a', ...carol])).toContain('created');
    const log = await plat.run(['log', ...carol]);
    expect(log).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('configmap/a  created'),
      stderr: expect.stringContaining('more kinds'),
    });
    expect(await plat.run(['undo', 'cm/a', '--yes', ...carol])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot delete resource'),
    });
  });

  test('a server without history is named', async () => {
    const stock = await startTestServer({ identity: 'kubernetes' });
    try {
      const own = platFor(stock);
      await own.ok(['create', 'configmap', 'a']);
      for (const command of [
        ['history', 'cm/a'],
        ['history', 'cm'],
        ['undo', 'cm/a', '--yes'],
        ['history', 'cm/deleted'],
        ['undo', 'cm/deleted', '--yes'],
        ['log'],
        ['log', '-f'],
        ['get', 'cm', '--at', '10m'],
        ['get', 'cm', 'a', '--at', '1'],
        ['undo', '--since', '1h', '--by', 'x'],
      ])
        expect(await own.run(command), command.join(' ')).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(/keeps no history: .* it needs --runtime-config explain\.k8s\.io\/v1alpha1=true\n$/),
        });
    } finally {
      await stock.close();
    }
  });
});
