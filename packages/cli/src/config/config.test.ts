import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { parseYaml } from '@plat-dev/schema/yaml';
import { beforeEach, expect, test } from 'vitest';
import type { ProgramName } from '../command.ts';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';
import { parseProperty } from './property.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = temporaryDirectory('plat-config');
  path = join(directory, 'config');
  writeFileSync(path, sample, { mode: 0o600 });
  writeFileSync(join(directory, 'me.crt'), 'cert');
});
const sample = `
clusters:
- name: a.b
  cluster: { server: https://one.example, certificate-authority-data: eA== }
- name: other
  cluster: { server: https://two.example }
users:
- name: me
  user: { token: abc, client-certificate: me.crt }
- name: plug
  user:
    exec: { command: x, env: [{ name: API_KEY, value: k }, { name: REGION, value: r }] }
    extensions: [{ name: kept }]
- name: oidc
  user: { auth-provider: { name: oidc, config: { client-id: c, id-token: t, refresh-token: r } } }
contexts:
- name: dev
  context: { cluster: a.b, user: me, namespace: team }
- name: prod
  context: { cluster: other, user: plug }
current-context: dev
extra: kept
`;
async function configOf(program: ProgramName, args: readonly string[]) {
  const io = testIO({ program, cwd: directory, env: { KUBECONFIG: path }, home: directory });
  const code = await run(['config', ...args], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
const config = (...args: string[]) => configOf('plat', args);
const said = (stdout: string) => ({ code: 0, stdout, stderr: '' });
interface Written {
  clusters: { name: string; cluster: Record<string, unknown> }[];
  users: { name: string; user: Record<string, unknown> }[];
  contexts: { name: string; context: Record<string, unknown> }[];
  'current-context': string;
  extra?: string;
}
const written = (file = path): Written => parseYaml(readFileSync(file, 'utf8')) as unknown as Written;
const user = (name: string) => written().users.find((one) => one.name === name)?.user;
const cluster = (name: string) => written().clusters.find((one) => one.name === name)?.cluster;

test('what is shown holds no secrets, unless it is asked for', async () => {
  const { stdout } = await config('view');
  expect(stdout).toContain('certificate-authority-data: DATA+OMITTED');
  expect(stdout).toContain('token: REDACTED');
  expect(stdout).toContain(`client-certificate: ${join(directory, 'me.crt')}`);
  expect(stdout).toContain('client-id: c\n');
  expect(stdout).toMatch(/id-token: REDACTED\n +refresh-token: REDACTED/);
  expect(stdout).toMatch(/name: API_KEY\n +value: REDACTED\n +- name: REGION\n +value: r\n/);
  expect((await config('view', '--raw')).stdout).toContain('token: abc');
  expect((await config('view', '-o', 'jsonpath={.current-context}')).stdout).toBe('dev');
});

test('one context alone, with all that it needs in it', async () => {
  const small = JSON.parse((await config('view', '--minify', '--flatten', '-o', 'json')).stdout) as Written;
  expect(small.clusters.map((one) => one.name)).toEqual(['a.b']);
  expect(small.users).toEqual([{ name: 'me', user: { token: 'abc', 'client-certificate-data': 'Y2VydA==' } }]);
  expect(small.contexts.map((one) => one.name)).toEqual(['dev']);
  const other = JSON.parse((await config('view', '--minify', '--context', 'prod', '-o', 'json')).stdout) as Written;
  expect([other['current-context'], other.clusters[0]?.name]).toEqual(['prod', 'other']);
  expect((await config('view', '--minify', '--context', 'prd')).stderr).toContain('(did you mean prod?)');
});

test('contexts are listed, chosen, made, changed, renamed and removed', async () => {
  expect(await config('get-contexts')).toEqual(
    said(
      'CURRENT   NAME   CLUSTER   AUTHINFO   NAMESPACE\n*         dev    a.b       me         team\n          prod   other     plug       \n',
    ),
  );
  expect(await config('get-contexts', '-o', 'name')).toEqual(said('dev\nprod\n'));
  expect(await config('get-contexts', 'prod', '--no-headers')).toEqual(said('      prod   other   plug   \n'));
  expect(await config('get-contexts', 'nope')).toMatchObject({ code: 2 });
  expect(await config('current-context')).toEqual(said('dev\n'));
  expect(await config('use-context', 'prod')).toEqual(said('Switched to context "prod".\n'));
  expect(await config('use-context', 'rod')).toMatchObject({ code: 2, stderr: 'plat: there is no context "rod" (did you mean prod?)\n' });
  expect(await config('set-context', '--current', '--namespace', 'x')).toEqual(said('Context "prod" modified.\n'));
  expect(await config('set-context', 'new', '--cluster=other')).toEqual(said('Context "new" created.\n'));
  expect(await config('rename-context', 'prod', 'live')).toEqual(said('Context "prod" renamed to "live".\n'));
  expect(await config('rename-context', 'live', 'new')).toMatchObject({ code: 2, stderr: 'plat: there is a context "new" already\n' });
  expect(written()).toMatchObject({
    'current-context': 'live',
    contexts: [
      { name: 'dev' },
      { name: 'live', context: { cluster: 'other', user: 'plug', namespace: 'x' } },
      { name: 'new', context: { cluster: 'other', user: '' } },
    ],
    extra: 'kept',
  });
  const { code, stdout, stderr } = await config('delete-context', 'live');
  expect([code, stdout]).toEqual([0, `deleted context live from ${path}\n`]);
  expect(stderr).toContain('this was the current context');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('called as kubectl, what is not there is reported in the words of kubectl, and may be unset', async () => {
  const kubectl = (line: string) => configOf('kubectl', line.split(' '));
  const refused = (text: string) => ({ code: 1, stdout: '', stderr: `error: ${text}\n` });
  expect(await kubectl('use-context nope')).toEqual(refused('no context exists with the name: "nope"'));
  for (const what of ['context', 'cluster', 'user'])
    expect(await kubectl(`delete-${what} nope`)).toEqual(refused(`cannot delete ${what} nope, not in ${path}`));
  expect(await kubectl('rename-context nope new')).toEqual(refused(`cannot rename the context "nope", it's not in ${path}`));
  const taken = `cannot rename the context "dev", the context "prod" already exists in ${path}`;
  expect(await kubectl('rename-context dev prod')).toEqual(refused(taken));
  expect(await kubectl('view --minify --context nope')).toEqual(refused('cannot locate context nope'));
  expect((await kubectl('set-cluster other --embed-certs')).stderr).toContain('you must specify a --certificate-authority to embed');
  for (const property of ['contexts.nope', 'contexts.prod.namespace', 'users.nope.token'])
    expect(await kubectl(`unset ${property}`)).toEqual(said(`Property "${property}" unset.\n`));
  expect(await kubectl('delete-context dev')).toEqual({
    code: 0,
    stdout: `deleted context dev from ${path}\n`,
    stderr: 'warning: this removed your active context, use "kubectl config use-context" to select a different one\n',
  });
  await kubectl('unset current-context');
  expect(await kubectl('current-context')).toEqual(refused('current-context is not set'));
  expect(await kubectl('view --minify')).toEqual(refused('current-context must exist in order to minify'));
});

test('clusters', async () => {
  expect(await config('get-clusters')).toEqual(said('NAME\na.b\nother\n'));
  writeFileSync(join(directory, 'ca.crt'), 'ca');
  const add = ['set-cluster', 'third', '--server=https://three.example', '--certificate-authority=ca.crt'];
  expect(await config(...add)).toEqual(said('Cluster "third" set.\n'));
  expect(cluster('third')).toEqual({ server: 'https://three.example', 'certificate-authority': join(directory, 'ca.crt') });
  await config(...add, '--embed-certs', '--tls-server-name=api', '--proxy-url=http://p.example');
  expect(cluster('third')).toEqual({
    server: 'https://three.example',
    'certificate-authority-data': 'Y2E=',
    'tls-server-name': 'api',
    'proxy-url': 'http://p.example',
  });
  await config('set-cluster', 'third', '--insecure-skip-tls-verify');
  expect(cluster('third')).toMatchObject({ 'insecure-skip-tls-verify': true });
  expect(cluster('third')).not.toHaveProperty('certificate-authority-data');
  await config('set-cluster', 'third', '--certificate-authority=ca.crt');
  expect(cluster('third')).not.toHaveProperty('insecure-skip-tls-verify');
  expect(await config('delete-cluster', 'third')).toEqual(said(`deleted cluster third from ${path}\n`));
  expect(await config('delete-cluster', 'third')).toMatchObject({ code: 2, stderr: 'plat: there is no cluster "third"\n' });
});

test('users: one way of proving who one is takes the place of another', async () => {
  expect(await config('get-users')).toEqual(said('NAME\nme\noidc\nplug\n'));
  expect(await config('set-credentials', 'me', '--username=n', '--password=p')).toEqual(said('User "me" set.\n'));
  expect(user('me')).toEqual({ username: 'n', password: 'p', 'client-certificate': 'me.crt' });
  await config('set-credentials', 'me', '--client-certificate=me.crt', '--client-key=me.crt', '--embed-certs');
  expect(user('me')).toEqual({ username: 'n', password: 'p', 'client-certificate-data': 'Y2VydA==', 'client-key-data': 'Y2VydA==' });
  const plugin = ['--exec-command=get', '--exec-api-version=v', '--exec-arg=-a', '--exec-arg=b', '--exec-env=K=1', '--exec-env=REGION-'];
  await config('set-credentials', 'plug', ...plugin);
  expect(user('plug')).toEqual({
    exec: {
      command: 'get',
      apiVersion: 'v',
      args: ['-a', 'b'],
      env: [
        { name: 'API_KEY', value: 'k' },
        { name: 'K', value: '1' },
      ],
      interactiveMode: 'IfAvailable',
    },
    extensions: [{ name: 'kept' }],
  });
  await config('set-credentials', 'oidc', '--auth-provider-arg=id-token-', '--auth-provider-arg=client-secret=s');
  expect(user('oidc')).toEqual({
    'auth-provider': { name: 'oidc', config: { 'client-id': 'c', 'refresh-token': 'r', 'client-secret': 's' } },
  });
  expect(await config('set-credentials', 'me', '--token=t', '--username=n')).toMatchObject({ code: 2 });
  expect((await config('set-credentials', 'x', '--exec-command=y')).stderr).toContain('needs --exec-api-version');
  expect(await config('delete-user', 'oidc')).toEqual(said(`deleted user oidc from ${path}\n`));
});

test('single values, and names with dots', async () => {
  expect(await config('set', 'clusters.a.b.server', 'https://new.example')).toEqual(said('Property "clusters.a.b.server" set.\n'));
  expect(cluster('a.b')).toMatchObject({ server: 'https://new.example', 'certificate-authority-data': 'eA==' });
  await config('set', 'clusters.a.b.insecure-skip-tls-verify', 'true');
  await config('set', 'users.me.client-key-data', 'raw key', '--set-raw-bytes');
  await config('set', 'users.oidc.auth-provider.config.idp-issuer-url', 'https://idp');
  expect(cluster('a.b')?.['insecure-skip-tls-verify']).toBe(true);
  expect(user('me')?.['client-key-data']).toBe(Buffer.from('raw key').toString('base64'));
  expect(user('oidc')?.['auth-provider']).toMatchObject({ name: 'oidc', config: { 'client-id': 'c', 'idp-issuer-url': 'https://idp' } });
  expect((await config('set', 'users.me.client-key-data', 'raw key')).stderr).toContain('use --set-raw-bytes');
  expect((await config('set', 'users.me.tokn', 'x')).stderr).toContain('(did you mean token?)');
  expect((await config('set', 'user.me.token', 'x')).stderr).toContain('(did you mean users?)');
  expect(await config('unset', 'users.me.token')).toEqual(said('Property "users.me.token" unset.\n'));
  expect((await config('unset', 'users.me.token')).stderr).toContain('the user "me" has no token');
  await config('unset', 'users.oidc.auth-provider.config.id-token');
  expect(user('oidc')?.['auth-provider']).not.toHaveProperty('config.id-token');
  await config('unset', 'contexts.prod');
  await config('unset', 'current-context');
  expect(written()).toMatchObject({ contexts: [{ name: 'dev' }], 'current-context': '' });
  expect(await config('current-context')).toMatchObject({ code: 1 });
  await config('unset', 'contexts');
  expect(written().contexts).toEqual([]);
  expect(parseProperty('users.x.y.token', () => [])).toMatchObject({ name: 'x.y', field: 'token' });
});

test('of several files each entry is changed where it stands; new ones go into the first', async () => {
  const second = join(directory, 'second');
  writeFileSync(second, 'contexts: [{ name: far, context: { cluster: x } }]\nusers: [{ name: me, user: { token: hidden } }]\n');
  const both = async (...args: string[]) => {
    const io = testIO({ cwd: directory, env: { KUBECONFIG: `${join(directory, 'absent')}:${path}:${second}` } });
    return { code: await run(['config', ...args], io), stdout: io.stdout };
  };
  expect((await both('get-contexts', '-o', 'name')).stdout).toBe('dev\nfar\nprod\n');
  await both('set-context', 'far', '--namespace=n1');
  await both('use-context', 'far');
  await both('set-context', 'new');
  expect(written(second).contexts).toEqual([{ name: 'far', context: { cluster: 'x', user: '', namespace: 'n1' } }]);
  expect(written().contexts.map((one) => one.name)).toEqual(['dev', 'prod', 'new']);
  expect(written()['current-context']).toBe('far');
  expect((await both('delete-user', 'me')).stdout).toBe(`deleted user me from ${path}\n`);
});

test('commands below a command have help and suggestions of their own', async () => {
  expect((await config()).stdout).toContain('use-context');
  expect((await config('--help')).stdout).toContain('plat config COMMAND [flags]');
  expect((await config('use-context', '--help')).stdout).toContain('plat config use-context NAME');
  expect(await config('use-contxt', 'x')).toMatchObject({
    code: 2,
    stderr: 'plat: unknown command "config use-contxt" (did you mean use-context?); `plat help config` lists them\n',
  });
});

test('view --merge=false shows one file as it is written', async () => {
  const { stdout } = await config('view', '--merge=false', '--kubeconfig', path);
  expect(parseYaml(stdout)).toMatchObject({ extra: 'kept', users: [{ name: 'me', user: { 'client-certificate': 'me.crt' } }, {}, {}] });
  const merged = parseYaml((await config('view')).stdout) as { users: { name: string; user: Record<string, string> }[] };
  expect(merged.users.find(({ name }) => name === 'me')?.user['client-certificate']).toBe(join(directory, 'me.crt'));
  const io = testIO({ env: { KUBECONFIG: path } });
  expect(await run(['config', 'view', '--merge=false'], io)).toBe(2);
  expect(io.stderr).toContain('--merge=false needs the file');
});

test('use is another name for use-context', async () => {
  expect((await config('use', 'prod')).stdout).toBe('Switched to context "prod".\n');
});

test('as kubectl the first change makes the file that kubectl reads', async () => {
  const home = temporaryDirectory('plat-home');
  const kubectl = async (line: string): Promise<string> => {
    const io = testIO({ program: 'kubectl', cwd: home, home, env: {} });
    expect(await run(line.split(' '), io), io.stderr).toBe(0);
    return io.stdout;
  };
  await kubectl('config set-cluster local --server=https://127.0.0.1:1');
  await kubectl('config set-context test --cluster=local');
  await kubectl('config use-context test');
  expect(await kubectl('config current-context')).toBe('test\n');
  expect(readFileSync(join(home, '.kube', 'config'), 'utf8')).toContain('https://127.0.0.1:1');
});

test('as kubectl contexts that exist are listed beside the errors of others, and lists ignore arguments', async () => {
  const kubectl = async (...args: string[]) => {
    const io = testIO({ program: 'kubectl', cwd: directory, env: { KUBECONFIG: path }, home: directory });
    return { code: await run(args, io), stdout: io.stdout, stderr: io.stderr };
  };
  const header = 'CURRENT   NAME   CLUSTER   AUTHINFO   NAMESPACE\n';
  expect(await kubectl('config', 'get-contexts', 'none')).toEqual({ code: 1, stdout: header, stderr: 'error: context none not found\n' });
  expect(await kubectl('config', 'get-contexts', 'x', 'prod', 'y', '--no-headers')).toEqual({
    code: 1,
    stdout: '      prod   other   plug   \n',
    stderr: 'context x not found\ncontext y not found\n',
  });
  expect(await kubectl('config', 'get-clusters', 'x')).toEqual(said('NAME\na.b\nother\n'));
  expect(await kubectl('config', 'current-context', 'x')).toEqual(said('dev\n'));
  expect((await kubectl('options', 'x')).code).toBe(0);
  expect((await config('get-contexts', 'none', 'prod')).code).toBe(2);
});

test('base64 whose lines are broken is one value', async () => {
  const io = testIO({ cwd: directory, env: { KUBECONFIG: path } });
  expect(await run(['config', 'set', 'clusters.other.certificate-authority-data', 'eHh4\neHh4\n'], io), io.stderr).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain('certificate-authority-data: eHh4eHh4\n');
});
