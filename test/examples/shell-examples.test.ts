/** Examples that are scripts: they are run as their pages say. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { freePorts } from '../support/free-ports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A copy of an example, and commands in it, with `plat` on the PATH. */
function copyOf(name: string, more: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory(name);
  cpSync(join(root, 'examples', name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/plat.js')}" "$@"\n`;
  writeFileSync(join(directory, 'bin/plat'), program, { mode: 0o755 });
  const state = join(directory, 'state');
  const env = { PATH: `${join(directory, 'bin')}:${process.env.PATH}`, HOME: directory, XDG_STATE_HOME: state, ...more };
  const cwd = join(directory, name);
  return {
    cwd,
    run(line: string) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' });
      return { code: status, output: stdout + stderr };
    },
    /** For commands that leave something running, which keeps their output open. */
    start: (line: string) =>
      new Promise<number | null>((resolve) => spawn('sh', ['-c', line], { cwd, env, stdio: 'ignore' }).once('exit', resolve)),
  };
}

describe('chart-in-ci', () => {
  const { cwd, run } = copyOf('chart-in-ci');

  test('the jobs run the script with every release of their matrix', { timeout: 240_000 }, () => {
    const gitlab = parse(readFileSync(join(cwd, 'gitlab-ci.yml'), 'utf8')).manifests;
    const github = parse(readFileSync(join(cwd, 'github-workflow.yml'), 'utf8')).jobs.manifests;
    const releases: string[] = gitlab.parallel.matrix[0].RELEASE;
    expect(github.strategy.matrix.release).toEqual(releases);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a line of the workflow.
    expect(github.steps.at(-1).run).toBe(gitlab.script[0].replace('"$RELEASE"', '${{ matrix.release }}'));
    for (const release of releases) {
      const { code, output } = run(`RELEASE=${release}; ${gitlab.script.join('\n')}`);
      expect(code, output).toBe(0);
      expect(output).toContain(`app works with ${release}\n`);
    }
    expect(run('plat list').output).not.toContain('app-test');
  });

  test('manifests that do not work fail the job, and leave no server', { timeout: 120_000 }, () => {
    writeFileSync(
      join(cwd, 'app/app.yaml'),
      readFileSync(join(cwd, 'app/app.yaml'), 'utf8').replace('containerPort: 8080', 'containerPort: 0'),
    );
    const { code, output } = run('./test.sh');
    expect(code).not.toBe(0);
    expect(output).toContain('spec.template.spec.containers[0].ports[0].containerPort');
    expect(run('plat list').output).not.toContain('app-test');
  });
});

describe.skipIf(etcdMissing !== undefined)('multi-tenant', () => {
  let etcd: EtcdFixture | undefined;
  let down = (): unknown => undefined;
  afterAll(async () => {
    down();
    await etcd?.stop();
  });

  test('teams have what the page says, by either server, and nothing of each other', { timeout: 240_000 }, async () => {
    etcd = await startEtcd();
    const [first, second] = await freePorts(2);
    const { run, start, cwd } = copyOf('multi-tenant', { ETCD: etcd.endpoint, FIRST_PORT: String(first), SECOND_PORT: String(second) });
    down = () => run('./platform.sh down');
    const ok = (line: string): string => {
      const { code, output } = run(line);
      expect(code, `${line}\n${output}`).toBe(0);
      return output;
    };
    expect(await start('./platform.sh up')).toBe(0);
    ok('./platform.sh team bakery');
    ok('./platform.sh team dairy');
    expect(statSync(join(cwd, 'bakery.conf')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cwd, 'bakery.conf'), 'utf8')).not.toContain('client-key');

    ok('plat --kubeconfig bakery.conf create deployment web --image=shop/web');
    const other = `--kubeconfig bakery.conf --server https://127.0.0.1:${second}`;
    expect(ok(`plat ${other} get deployments -o name`)).toBe('deployment.apps/web\n');
    for (const refused of ['get deployments -n dairy', 'delete quota bounds', 'get nodes', 'create namespace mine'])
      expect(run(`plat --kubeconfig bakery.conf ${refused}`), refused).toMatchObject({
        code: 1,
        output: expect.stringContaining('forbidden'),
      });
    const many = 'for n in 1 2 3 4 5 6 7 8 9 10; do plat --kubeconfig bakery.conf create deployment web$n --image=shop/web; done';
    expect(run(many).output).toContain('exceeded quota: bounds');

    ok('./platform.sh remove bakery');
    expect(ok(`plat --kubeconfig data/admin.conf --server https://127.0.0.1:${second} get namespaces -o name`)).not.toContain('bakery');
    ok('./platform.sh down');
    down = () => undefined;
  });
});
