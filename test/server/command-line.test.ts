/** The built program: what it says when it is started, and when it is started wrongly. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { finished, programMissing, runPlat, startPlat } from '../support/program.ts';

test.each([
  [['--secur-port=1'], /unknown flag --secur-port.*did you mean --secure-port/],
  [['--secure-port=x'], /--secure-port: "x" is not a whole number/],
  [['--secure-port=70000'], /--secure-port/],
  [['--store=sqlite'], /--store: "sqlite" is not one of lmdb, memory, etcd/],
  [['--request-timeout=soon'], /--request-timeout/],
  [['--authorization-mode=RBAK'], /--authorization-mode: "RBAK".*RBAC/],
  [['--service-cluster-ip-range=10.0.0.0'], /--service-cluster-ip-range/],
  [['--feature-gates=NoSuch=true'], /--feature-gates.*NoSuch/],
  [['--runtime-config=api/none=maybe'], /--runtime-config/],
  [['--tls-cert-file=/nonexistent'], /--tls-cert-file.*--tls-private-key-file.*together/],
  [['--etcd-prefix=/x'], /--etcd-prefix has no effect without --store etcd/],
  [['--identity=nobody', '--store=memory'], /--identity nobody: neither one of plat, kubernetes nor a readable JSON file/],
  [['please'], /unexpected argument "please"/],
])('%j is refused', async (args, problem) => {
  const io = testIO();
  expect([1, 2]).toContain(await run(['server', ...args], io));
  expect(io.stderr).toMatch(problem);
  expect(io.stdout).toBe('');
});

describe.skipIf(programMissing !== undefined)(`plat server (${programMissing ?? 'built'})`, () => {
  test('what is wrong ends it, with a message and a code', async () => {
    const { code, stderr, stdout } = await runPlat('server', '--secur-port=1');
    expect([code, stderr, stdout]).toEqual([2, expect.stringContaining('did you mean --secure-port'), '']);
  });

  test('--help shows every flag in groups with its default', async () => {
    const { code, stdout } = await runPlat('server', '--help');
    expect(code).toBe(0);
    for (const text of [
      'Serving',
      'Store',
      'Authentication',
      'Authorization',
      '--secure-port',
      '6443',
      '--history-retention',
      '5m',
      'Node,RBAC',
    ])
      expect(stdout).toContain(text);
  });

  test('an unknown command is refused with a suggestion', async () => {
    expect(await runPlat('sevrer')).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean server') });
  });

  test('the ready line says where, who and what next; plat get works with it', async () => {
    const server = await startPlat(['--identity', 'kubernetes']);
    try {
      const [line = ''] = server.child.lines;
      expect(line).toMatch(/^plat \S+ is ready at https:\/\/127\.0\.0\.1:\d+ {2}identity kubernetes {2}store lmdb in \S+ {2}after \d+ ms$/);
      while (!server.child.lines.some((text) => text.includes('kubectl --kubeconfig'))) await server.child.line(() => true);
      const config = join(server.dataDir, 'admin.conf');
      expect((statSync(config).mode & 0o777).toString(8)).toBe('600');
      expect(readFileSync(config, 'utf8')).toContain(server.address);
      const got = await runPlat('get', 'namespaces', '--kubeconfig', config);
      expect(got.stdout).toMatch(/^NAME +STATUS +AGE\ndefault +Active/);
      const second = await runPlat('server', '--data-dir', server.dataDir, '--secure-port', '0');
      expect(second).toMatchObject({ code: 1, stdout: '' });
      expect(second.stderr).toContain(
        `the data directory ${server.dataDir} is in use by another server (process ${server.child.process.pid})`,
      );
      const { port } = new URL(server.address);
      const taken = await runPlat('server', '--store', 'memory', '--data-dir', join(server.dataDir, 'other'), '--secure-port', port);
      expect(taken.stderr).toContain(`127.0.0.1:${port} is in use: is another server running? Choose another port with --secure-port`);
    } finally {
      server.child.process.kill('SIGTERM');
      expect((await finished(server.child)).code).toBe(0);
    }
  });
});
