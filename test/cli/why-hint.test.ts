/** Errors that a `plat why` explains name it. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plat, platFor, shellWords } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let admin: Plat;
let alice: Plat;
let ns: string;
const connection = (): string[] => ['--kubeconfig', server.running.adminConfigPath, '--token', 'alice-token'];
beforeAll(async () => {
  server = await startTestServer({ identity: 'plat' });
  admin = platFor(server);
  alice = platFor(server, {}, connection());
  ns = await server.namespace();
});
afterAll(() => server.close());

/** The command that the error names, without the file of the connection. */
const hinted = (stderr: string): string[] => {
  const command = /`plat (why [^`]*)` explains it\n$/.exec(stderr)?.[1] ?? '';
  return command.replace(` --kubeconfig ${server.running.adminConfigPath}`, '').split(' ');
};

test('a request that is denied names the question about it, which is answered', async () => {
  for (const [args, question] of [
    [['get', 'secrets', '-n', ns], `why denied list secrets -n ${ns}`],
    [['get', 'secret/a', '-n', ns], `why denied get secrets/a -n ${ns}`],
    [['get', 'deployments', '-A'], 'why denied list deployments.apps -A'],
    [['get', 'nodes'], 'why denied list nodes -A'],
    [['scale', 'deployment/web', '--replicas=2', '-n', ns], `why denied patch deployments.apps/web --subresource scale -n ${ns}`],
    [['get', '--raw', '/metrics'], 'why denied get /metrics'],
  ] as const) {
    const { code, stderr } = await alice.run(args);
    expect([args, code]).toEqual([args, 1]);
    expect(hinted(stderr).join(' ')).toBe(question);
    const { code: answered, stdout } = await alice.run(hinted(stderr));
    expect([question, answered]).toEqual([question, 0]);
    expect(stdout).toContain('You may not ');
  }
});

test('a refusal of admission, and a conflict of an apply', async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }], priorityClassName: 'none' },
  };
  expect(hinted((await admin.run(['apply', '-f', '-', '-n', ns], pod)).stderr).join(' ')).toBe(`why rejected -f FILE -n ${ns}`);
  const map = (x: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { x } });
  await admin.ok(['apply', '-f', '-', '-n', ns, '--field-manager', 'ci'], map('1'));
  expect((await admin.run(['apply', '-f', '-', '-n', ns], map('2'))).stderr).toContain(
    `\`plat why conflict -f FILE -n ${ns} --kubeconfig `,
  );
});

test('what waits for a deletion', async () => {
  const name = await server.namespace();
  const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
  await server.admin.ok('POST', `/api/v1/namespaces/${name}/configmaps`, held);
  await admin.ok(['delete', 'namespace', name, '--wait=false']);
  const { stderr } = await admin.run(['create', 'configmap', 'late', '-n', name]);
  expect(hinted(stderr).join(' ')).toBe(`why not deleted namespaces/${name}`);
  expect((await admin.run(hinted(stderr))).code).toBe(0);
});

test('the flags about server and user are repeated, so that the command asks the same server about the same user', async () => {
  const file = join(admin.cwd, 'a file of mine.conf');
  copyFileSync(server.running.adminConfigPath, file);
  const plat = platFor(server, {}, ['--kubeconfig', file]);
  const { stderr } = await plat.run(['get', 'secrets', `-n${ns}`, '--as=carol', '--as-group', 'a', '--as-group=b $c']);
  const question = `why denied list secrets -n ${ns} --kubeconfig '${file}' --as carol --as-group a --as-group 'b $c'`;
  expect(stderr).toContain(`\`plat ${question}\` explains it\n`);
  const answer = await platFor(server, {}, []).run(shellWords(question));
  expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('carol may not list secrets.\n') });

  const rejected = await plat.run(['delete', 'namespace', 'default', '--as=carol', '--as-group=system:masters', '-n', ns, '--wait=false']);
  expect(rejected.stderr).toContain(
    `\`plat why rejected -f FILE -n ${ns} --kubeconfig '${file}' --as carol --as-group system:masters\` expl`,
  );
});

test('what a user lacks to act as another one is a question about the user', async () => {
  const { stderr } = await alice.run(['get', 'secrets', '-n', ns, '--as', 'carol']);
  expect(hinted(stderr).join(' ')).toBe('why denied impersonate users/carol -A');
  const { stderr: reviewing } = await alice.run(['why', 'denied', 'list', 'pods', '-n', ns, '--as', 'carol', '--as-uid', '7']);
  expect(hinted(reviewing).join(' ')).toMatch(/^why denied create subjectaccessreviews\.\S+ -A$/);
  expect((await alice.run(hinted(reviewing))).stdout).toContain('You may not create ');
});

test('other errors name none, and the stock client has no such words', async () => {
  expect((await admin.run(['get', 'pod/none', '-n', ns])).stderr).not.toContain('plat why');
  const kubectl = platFor(server, {}, connection(), 'kubectl');
  expect((await kubectl.run(['get', 'secrets', '-n', ns])).stderr).toMatch(/^Error from server \(Forbidden\): .*"\n$/);
});

test('without arguments why denied is about the last request of the user that was refused', async () => {
  await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps`);
  expect((await alice.run(['delete', 'configmap/x', '-n', ns])).code).toBe(1);
  const { code, stdout, stderr } = await alice.run(['why', 'denied']);
  expect(code).toBe(0);
  expect(stdout).toContain(`You may not delete configmaps x in namespace ${ns}.\n`);
  expect(stdout).toContain('kind: RoleBinding\n');
  expect(stderr).toMatch(/^Refused at \d{4}-\S+Z, audit id \S+\n$/);

  const { headers } = await server.alice.get('/api/v1/nodes');
  await server.alice.get('/metrics');
  const byId = await alice.run(['why', 'denied', '--audit-id', headers['audit-id'] as string]);
  expect(byId.stdout).toContain('You may not list nodes.\n');
  expect((await alice.run(['why', 'denied'])).stdout).toContain('You may not get /metrics.\n');
});

test('refusals of others are for those who may review their access', async () => {
  const { headers } = await server.alice.get('/api/v1/nodes');
  const id = headers['audit-id'] as string;
  const bob = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', 'bob-token']);
  expect((await bob.run(['why', 'denied', '--audit-id', id])).stderr).toContain('remembers no refused request with the audit id');
  const denied = await bob.run(['why', 'denied', '--audit-id', id, '--as', 'alice']);
  expect(denied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cannot create resource "subjectaccessreviews"') });
  expect(denied.stderr).not.toContain('Refused at');
  expect((await admin.run(['why', 'denied', '--audit-id', id, '--as', 'alice'])).stdout).toContain('alice may not list nodes.\n');
});

test('an audit id and a request exclude each other', async () => {
  expect((await alice.run(['why', 'denied', 'get', 'pods', '--audit-id', 'x'])).code).toBe(2);
  expect((await alice.run(['why', 'allowed'])).code).toBe(2);
});
