/** Programs that people wrap around kubectl: kubectx, kubens and kubecolor, around Debian's kubectl and around plat called as kubectl. */
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { debianMissing, oldKubectlMissing, writeConfig } from '../support/foreign-client.ts';
import { programDirectory, programMissing } from '../support/program.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { oldKubectl } from '../support/test-programs.ts';

const KUBECTX = '/usr/bin/kubectx';
const KUBENS = '/usr/bin/kubens';
const KUBECOLOR = '/usr/bin/kubecolor';
const wrapperMissing = debianMissing('kubectx', 'test', '-x', KUBECTX) ?? debianMissing('kubecolor', 'test', '-x', KUBECOLOR);

const kubectls: readonly (readonly [string, string, string | undefined])[] = [
  ['kubectl 1.20', oldKubectl, oldKubectlMissing()],
  ['plat called as kubectl', join(programDirectory, 'plat.js'), programMissing],
];

describe.each(kubectls)('around %s', (_name, kubectl, kubectlMissing) => {
  const missing = wrapperMissing ?? kubectlMissing;
  describe.skipIf(missing !== undefined)(`(${missing ?? 'found'})`, () => {
    let server: TestServer;
    let namespace: string;
    let env: Record<string, string>;
    beforeAll(async () => {
      server = await startTestServer({ identity: 'kubernetes', store: 'lmdb' });
      namespace = await server.namespace();
      const programs = join(server.dataDir, 'programs');
      mkdirSync(programs);
      mkdirSync(join(server.dataDir, '.kube'));
      symlinkSync(kubectl, join(programs, 'kubectl'));
      const PATH = `${programs}:${dirname(process.execPath)}:/usr/bin:/bin`;
      env = { PATH, HOME: server.dataDir, KUBECONFIG: await writeConfig(server, namespace), TERM: 'xterm' };
    });
    afterAll(async () => {
      await server.close();
      expect(server.errors).toEqual([]);
    });

    const run = (program: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, { env, cwd: server.dataDir, stdio: ['ignore', 'pipe', 'pipe'] });
        const result = { stdout: '', stderr: '' };
        child.stdout.setEncoding('utf8').on('data', (text) => {
          result.stdout += text;
        });
        child.stderr.setEncoding('utf8').on('data', (text) => {
          result.stderr += text;
        });
        child.on('error', reject);
        child.on('close', (code) => resolve({ code, ...result }));
      });
    const ok = async (program: string, ...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(program, ...args);
      expect(code, stdout + stderr).toBe(0);
      return stdout;
    };

    test('kubectx lists, switches, goes back, renames and deletes contexts', async () => {
      expect(await ok(KUBECTX)).toBe('admin\nplugin\nplugin-certificate\n');
      expect(await ok(KUBECTX, 'plugin')).toBe('Switched to context "plugin".\n');
      expect(await ok(KUBECTX, '-c')).toBe('plugin\n');
      expect(await ok(KUBECTX, '-')).toBe('Switched to context "admin".\n');
      expect(await ok(KUBECTX, 'alice=plugin')).toBe('Context "plugin" renamed to "alice".\n');
      expect(await ok(KUBECTX, '-d', 'plugin-certificate')).toMatch(/^deleted context plugin-certificate from /);
      expect(await ok(KUBECTX)).toBe('admin\nalice\n');
      const unknown = await run(KUBECTX, 'nobody');
      expect([unknown.code, unknown.stderr]).toEqual([1, 'error: no context exists with the name: "nobody"\n']);
    });

    test('kubens lists, switches and goes back', async () => {
      expect((await ok(KUBENS)).split('\n')).toEqual(expect.arrayContaining(['default', 'kube-system', namespace]));
      expect(await ok(KUBENS, '-c')).toBe(`${namespace}\n`);
      expect(await ok(KUBENS, 'kube-system')).toBe('Context "admin" modified.\n');
      expect(await ok(KUBENS, '-c')).toBe('kube-system\n');
      expect(await ok(KUBENS, '-')).toBe('Context "admin" modified.\n');
      expect(await ok(KUBENS, '-c')).toBe(`${namespace}\n`);
      expect(await run(KUBENS, 'absent')).toMatchObject({ code: 1, stderr: 'error: no namespace exists with name "absent".\n' });
    });

    test('kubecolor colours what kubectl prints, and changes nothing else', async () => {
      writeFileSync(
        join(server.dataDir, 'pod.json'),
        JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'i' }] } }),
      );
      const created = await ok(KUBECOLOR, '--force-colors', 'apply', '-f', 'pod.json');
      expect(stripVTControlCharacters(created)).toBe('pod/web created\n');
      const commands = [
        ['get', 'pods', '-o', 'name'],
        ['get', 'pod', 'web', '-o', 'json'],
        ['get', 'pod', 'web', '-o', 'yaml'],
        ['describe', 'pod', 'web'],
        ['api-resources', '--api-group=apps'],
        ['explain', 'pods.spec.nodeName'],
      ];
      for (const command of commands) {
        const plain = await ok('kubectl', ...command);
        // It leaves out blanks at the end of a line.
        const lines = (text: string): string[] => text.split('\n').map((line) => line.trimEnd());
        expect(lines(await ok(KUBECOLOR, ...command))).toEqual(lines(plain));
        const coloured = await ok(KUBECOLOR, '--force-colors', ...command);
        expect(coloured).toContain('\u001b[');
        expect(lines(stripVTControlCharacters(coloured))).toEqual(lines(plain));
      }
      expect(stripVTControlCharacters(await ok(KUBECOLOR, '--force-colors', 'get', 'pods'))).toMatch(
        /^NAME +READY +STATUS +RESTARTS +AGE\nweb +0\/1 +Pending /,
      );
      const { code, stderr } = await run(KUBECOLOR, '--force-colors', 'get', 'pod', 'absent');
      expect([code, stripVTControlCharacters(stderr)]).toEqual([1, 'Error from server (NotFound): pods "absent" not found\n']);
    });
  });
});
