import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerOptions } from '@plat-dev/compose/config/server-options';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { expect, test } from 'vitest';
import { run } from './index.ts';
import { type StartedServer, type StartServer, serverCommand } from './server.ts';
import { testIO } from './testing.ts';

function stand(start: (options: ServerOptions) => MaybePromise<Partial<StartedServer>> = () => ({}), cwd = '/work') {
  const story: string[] = [];
  let finish: () => void = () => {};
  const startServer: StartServer = async (options) => {
    story.push(`start on ${options.securePort}`);
    return {
      address: 'https://127.0.0.1:6443',
      adminConfig: '',
      adminConfigPath: '.plat/admin.conf',
      consoleLink: 'https://127.0.0.1:6443/console/?code=abc',
      ended: new Promise(() => {}),
      close: () =>
        new Promise((resolve) => {
          story.push('close');
          finish = resolve;
        }),
      ...(await start(options)),
    };
  };
  const table = [{ name: 'server', summary: '', load: async () => serverCommand(startServer) }];
  const io = testIO({ cwd });
  return { story, io, finish: () => finish(), run: (...args: string[]) => run(['server', ...args], io, table) };
}

test('a ready server says where it is and what to type next; a signal ends it with grace', async () => {
  const { io, run, story, finish } = stand();
  const done = run('--secure-port=7000', '--feature-gates=ServerSideApply=true');
  await io.said('is ready');
  expect(io.stdout).toMatch(
    /^plat \S+ is ready at https:\/\/127\.0\.0\.1:6443 {2}identity plat {2}store lmdb in \.plat {2}after \d+ ms\n\n {2}plat get namespaces\n {2}kubectl --kubeconfig \.plat\/admin\.conf get ns\n\nConsole, for a browser on this machine \(once, within 5 minutes; later `plat console`\):\n\n {2}https:\/\/127\.0\.0\.1:6443\/console\/\?code=abc\n\nIts API groups end in plat\.dev\. For manifests and tools with stock names \(k8s\.io\):\n\n {2}plat server --identity kubernetes --data-dir \.plat-kubernetes\n\n$/,
  );
  expect(io.stderr).toContain('the feature gate ServerSideApply has no effect');
  io.send('SIGTERM');
  await io.said('interrupt again to stop at once');
  finish();
  expect(await done).toBe(0);
  expect(story).toEqual(['start on 7000', 'close']);
});

test('a server with stock names says how history and why are turned on, unless they are', async () => {
  const saidWhenReady = async (...flags: string[]): Promise<string> => {
    const { io, run, finish } = stand();
    const done = run(...flags);
    await io.said('is ready');
    io.send('SIGINT');
    await io.said('stopping');
    finish();
    await done;
    return io.stdout.slice(io.stdout.indexOf('Its API groups'));
  };
  const setting = '--runtime-config=explain.k8s.io/v1alpha1=true';
  const names =
    'Its API groups end in k8s.io, the stock names.\nIt is release 1.24 of the API; the newest is 1.36 (--api-release latest).\n';
  const hint = 'plat history, undo and why are off: --runtime-config explain.k8s.io/v1alpha1=true turns them on.\n';
  expect(await saidWhenReady('--identity=kubernetes')).toBe(`${names}${hint}\n`);
  expect(await saidWhenReady('--identity=kubernetes', setting)).toBe(`${names}\n`);
  expect(await saidWhenReady('--identity=kubernetes', '--api-release=latest')).not.toContain('release');
  expect(await saidWhenReady()).not.toContain('history');
});

test('a second signal ends it at once', async () => {
  const { io, run, finish } = stand();
  const done = run();
  await io.said('is ready');
  io.send('SIGINT');
  await io.said('stopping');
  expect(io.exited).toBeUndefined();
  io.send('SIGINT');
  expect(io.exited).toBe(130);
  finish();
  await done;
});

test('a signal before it is ready ends it as soon as it is', async () => {
  let started: () => void = () => {};
  const { io, run, story, finish } = stand(
    () =>
      new Promise((resolve) => {
        started = () => resolve({});
      }),
  );
  const done = run();
  await new Promise((resolve) => setImmediate(resolve));
  io.send('SIGINT');
  started();
  await io.said('stopping');
  finish();
  expect(await done).toBe(0);
  expect(story).toContain('close');
  expect(io.stdout).toBe('');
});

test('a configuration elsewhere is named', async () => {
  const { io, run, finish } = stand(() => ({ adminConfigPath: '/elsewhere/admin.conf' }));
  const done = run('--store=memory');
  await io.said('is ready');
  expect(io.stdout).toContain('store memory');
  expect(io.stdout).toContain('plat get namespaces --kubeconfig /elsewhere/admin.conf\n');
  io.send('SIGINT');
  await io.said('stopping');
  finish();
  await done;
});

test('the configuration of a server in memory is written beside that of another server, never over it', async () => {
  const cwd = temporaryDirectory('plat-cli-server');
  const begin = async (port: number): Promise<string> => {
    const address = `https://127.0.0.1:${port}`;
    const started = { address, adminConfig: `    server: ${address}\n`, adminConfigPath: undefined };
    const { io, run, finish } = stand(() => started, cwd);
    const done = run('--store=memory');
    await io.said('is ready');
    io.send('SIGINT');
    await io.said('stopping');
    finish();
    await done;
    return io.stdout;
  };
  expect(await begin(6443)).toContain('kubectl --kubeconfig .plat/admin.conf get ns');
  expect(await begin(7443)).toContain('plat get namespaces --kubeconfig .plat/admin-7443.conf');
  expect(await begin(6443)).toContain('kubectl --kubeconfig .plat/admin.conf get ns');
  expect(readFileSync(join(cwd, '.plat', 'admin.conf'), 'utf8')).toContain(':6443\n');
  expect(statSync(join(cwd, '.plat', 'admin-7443.conf')).mode & 0o777).toBe(0o600);
});

test('a server that cannot go on ends the command with a failure', async () => {
  const { io, run, story } = stand(() => ({ ended: Promise.resolve(new Error('the store is gone')) }));
  expect(await run()).toBe(1);
  expect(io.stderr).toContain('the store is gone');
  expect(story).not.toContain('close');
});
