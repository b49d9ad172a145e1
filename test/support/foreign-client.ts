/**
 * Other people's clients, as scripts under test/clients and test/programs. A script runs its steps in turn, prints one JSON line for each
 * (`{"step":"create"}`, with an `error` where it failed), and ends with 1 when one failed. It finds its server through
 * `KUBECONFIG`, whose contexts are:
 *
 *   admin                a client certificate, of the administrator
 *   plugin               a credential plug-in that answers the token of `alice`, who may edit the namespace
 *   plugin-certificate   a credential plug-in that answers the certificate of `carol`, who may look at the namespace
 */

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { issueClient, readAuthority } from '../../packages/pki/src/certificate.ts';
import { freePort } from './free-ports.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts';
import { oldKubectl, python, testPrograms } from './test-programs.ts';

/** Debian's own, as with Python. */
const RUBY = '/usr/bin/ruby';
/** Programs from npm, with the Node that the newest of them need; a platform that it is not packed for has its own. */
const PROGRAMS = join(testPrograms, 'programs');
const NODE = [join(PROGRAMS, 'node_modules/.bin/node'), process.execPath].find(existsSync) as string;
const ANSIBLE = '/usr/bin/ansible-playbook';
const interpreters = { python, ruby: RUBY, ansible: ANSIBLE, node: NODE };
const TESTS = join(import.meta.dirname, '..');
const FIND_PYTHON = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("kubernetes") is None)';

/** Why tests of a client cannot run here; undefined: they can. A library is looked for only: to load it takes a second. */
export const pythonMissing = (): string | undefined => debianMissing('python3-kubernetes', python, '-c', FIND_PYTHON);
export const rubyMissing = (): string | undefined => debianMissing('ruby-kubeclient', RUBY, '-e', 'gem "kubeclient"');
export const ansibleMissing = (): string | undefined => pythonMissing() ?? debianMissing('ansible', ANSIBLE, '--version');
export const oldKubectlMissing = (): string | undefined => debianMissing('kubernetes-client', oldKubectl, 'version', '--client');

/** The lockfile is copied when everything that it names is there. */
export function programsMissing(): string | undefined {
  const [wanted, installed] = [join(TESTS, 'programs'), PROGRAMS].map((folder) => join(folder, 'package-lock.json')) as [string, string];
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(wanted))) return undefined;
  return 'the programs of test/programs/package.json are not installed: .ci/run does it';
}

export function debianMissing(debianPackage: string, program: string, ...args: string[]): string | undefined {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `Debian's ${debianPackage} is not installed: .ci/run does it`;
  }
}

/** Writes the configuration of a script; the tokens and certificates in it are of this server alone. */
export async function writeConfig(
  server: TestServer,
  namespace: string,
  pluginVersion = 'client.authentication.k8s.io/v1',
): Promise<string> {
  const { groupSuffix, name } = server.identity;
  const rbac = `rbac.authorization.${groupSuffix}`;
  for (const [user, role] of [
    ['alice', 'edit'],
    ['carol', 'view'],
  ])
    await server.admin.ok('POST', `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    });
  const read = (path: string): string => readFileSync(join(server.dataDir, path), 'utf8');
  const authority = readAuthority({ certificate: read('pki/ca.crt'), key: read('pki/ca.key') });
  const carol = issueClient(authority, 'carol', [], Date.now());
  const plugin = (file: string, status: object): object => {
    const answer = { apiVersion: pluginVersion, kind: 'ExecCredential', status };
    const path = join(server.dataDir, file);
    writeFileSync(path, `#!/bin/sh\necho run >>"$0.runs"\n[ "$ASKED_BY" = "${name}" ] && cat <<'END'\n${jsonText(answer)}\nEND\n`, {
      mode: 0o755,
    });
    const env = [{ name: 'ASKED_BY', value: name }];
    return { exec: { apiVersion: pluginVersion, command: path, interactiveMode: 'Never', env } };
  };
  const admin = parse(readFileSync(server.running.adminConfigPath, 'utf8'));
  const users = {
    admin: admin.users[0].user,
    plugin: plugin('plugin', { token: 'alice-token' }),
    'plugin-certificate': plugin('plugin-certificate', { clientCertificateData: carol.certificate, clientKeyData: carol.key }),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: admin.clusters[0].cluster }],
    users: Object.entries(users).map(([user, entry]) => ({ name: user, user: entry })),
    contexts: Object.keys(users).map((user) => ({ name: user, context: { cluster: 'c', user, namespace } })),
    'current-context': 'admin',
  };
  const path = join(server.dataDir, 'scripts.conf');
  writeFileSync(path, jsonText(config), { mode: 0o600 });
  return path;
}

interface Report {
  readonly code: unknown;
  readonly steps: ReadonlyMap<string, string | undefined>;
  readonly text: string;
}

/** Scripts find the programs from npm beside them, in a folder where they may also leave files. */
function placeBesidePrograms(directory: string): string {
  const folder = join(directory, 'programs');
  cpSync(join(TESTS, 'programs'), folder, { recursive: true });
  symlinkSync(join(PROGRAMS, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function runScript(language: keyof typeof interpreters, script: string, options: TestServerOptions): Promise<Report> {
  const server = await startTestServer({ store: 'lmdb', ...options });
  try {
    const namespace = await server.namespace();
    const { groupSuffix, domain, signers } = server.identity;
    const env = {
      PATH: `${join(PROGRAMS, 'node_modules/.bin')}:${process.env.PATH}`,
      HOME: server.dataDir,
      TMPDIR: server.dataDir,
      KUBECONFIG: await writeConfig(server, namespace),
      NAMESPACE: namespace,
      GROUP_SUFFIX: groupSuffix,
      DOMAIN: domain,
      KUBECTL: oldKubectl,
      FREE_PORT: String(await freePort()),
      CLIENT_SIGNER: signers.apiserverClient,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const cwd = language === 'node' ? placeBesidePrograms(server.dataDir) : join(TESTS, 'clients', language);
    const report = await new Promise<Report>((resolve) => {
      // The time ends a script that waits for an event which never comes.
      execFile(interpreters[language], [script], { cwd, env, timeout: 600_000 }, (error, stdout, stderr) => {
        const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
        const steps = lines.map((line) => JSON.parse(line) as { step: string; error?: string });
        const code = error === null ? 0 : (error.signal ?? error.code);
        resolve({ code, steps: new Map(steps.map(({ step, error: failed }) => [step, failed])), text: stdout + stderr });
      });
    });
    expect(server.errors).toEqual([]);
    return report;
  } finally {
    await server.close();
  }
}

/** Tests that a script passes, one for each of its steps. `options`: of the server that it talks to. */
export function scriptTests(
  language: keyof typeof interpreters,
  script: string,
  options: TestServerOptions,
  steps: readonly string[],
): void {
  let report: Report;
  beforeAll(async () => {
    report = await runScript(language, script, options);
  }, 660_000);
  test.each(steps)('%s', (step) => {
    if (!report.steps.has(step)) throw new Error(`the script did not come to this step:\n${report.text}`);
    expect(report.steps.get(step)).toBeUndefined();
  });
  test('the script ended well, with no other steps', () => {
    expect([...report.steps.keys()]).toEqual(steps);
    expect(report.code, report.text).toBe(0);
  });
}
