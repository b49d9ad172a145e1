/** Errors that a `plat why` explains name it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
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

/** The command that the error names. */
const hinted = (stderr: string): string[] => (/`plat (why [^`]*)` explains it\n$/.exec(stderr)?.[1] ?? '').split(' ');

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
  expect(hinted((await admin.run(['apply', '-f', '-', '-n', ns], pod)).stderr).join(' ')).toBe('why rejected -f FILE');
  const map = (x: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { x } });
  await admin.ok(['apply', '-f', '-', '-n', ns, '--field-manager', 'ci'], map('1'));
  expect((await admin.run(['apply', '-f', '-', '-n', ns], map('2'))).stderr).toContain('`plat why conflict -f FILE`');
});

test('other errors name none, and the stock client has no such words', async () => {
  expect((await admin.run(['get', 'pod/none', '-n', ns])).stderr).not.toContain('plat why');
  const kubectl = platFor(server, {}, connection(), 'kubectl');
  expect((await kubectl.run(['get', 'secrets', '-n', ns])).stderr).toMatch(/^Error from server \(Forbidden\): .*"\n$/);
});
