/** `plat envtest`: its directory is driven by a shell script as Go's envtest drives the stock programs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheDirectory, writeLaunchers } from '../../packages/cli/src/envtest/index.ts';
import { builtProgram } from '../../packages/cli/src/own-program.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startChild } from '../support/child.ts';
import { freePort } from '../support/free-ports.ts';
import { finished, programDirectory, programMissing, runPlat } from '../support/program.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const present = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const missing = ['openssl', 'curl'].find((program) => !present(program));
const skip = programMissing ?? (missing === undefined ? undefined : `${missing} is not installed`);

/** An address of this process alone, so that its ports are free: other programs listen on 127.0.0.1. */
const ownAddress =
  process.platform === 'linux' ? `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}` : '127.0.0.1';

async function newAssets(): Promise<string> {
  const directory = join(temporaryDirectory('plat-envtest'), 'with space');
  const { code, stdout, stderr } = await runPlat('envtest', '--dir', directory);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: directory, stderr: '' });
  return directory;
}
let shared: Promise<string> | undefined;
/** The directory that all tests use which change nothing in it. */
const assets = (): Promise<string> => {
  shared ??= newAssets();
  return shared;
};
const sh = (...args: string[]) => finished(startChild('/bin/sh', args));

test.skipIf(skip !== undefined)(
  'a directory of plat envtest is driven as envtest drives the stock programs, two at once',
  async () => {
    const script = join(import.meta.dirname, 'drop-in.sh');
    const { code, stdout, stderr } = await sh(script, await assets(), temporaryDirectory('plat-envtest-run'), ownAddress);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: ['help', 'flags', 'ready', 'objects', 'no-controllers', 'tokens', 'keys', 'rbac', 'log', 'stopped']
        .map((step) => `ok ${step}`)
        .join('\n'),
      stderr: '',
    });
  },
  300_000,
);

test.skipIf(programMissing !== undefined)('help needs no Node, and the programs are written once', async () => {
  const directory = await assets();
  for (const program of ['kube-apiserver', 'etcd', 'kubectl']) expect(statSync(join(directory, program)).mode & 0o777).toBe(0o755);
  for (const program of ['kube-apiserver', 'etcd'])
    expect(execFileSync(join(directory, program), ['--v=1', '--help'], { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' })).toContain(
      program,
    );
  const before = statSync(join(directory, 'etcd')).ino;
  expect(await runPlat('envtest', '--dir', directory)).toMatchObject({ code: 0 });
  expect(statSync(join(directory, 'etcd')).ino).toBe(before);
});

test.skipIf(programMissing !== undefined)('without --dir the programs stand in the cache of the user', async () => {
  const cache = temporaryDirectory('plat-envtest-cache');
  const printed = execFileSync(process.execPath, [join(programDirectory, 'plat.js'), 'envtest'], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
    encoding: 'utf8',
  });
  const plat = join(programDirectory, 'plat.js');
  expect(printed).toBe(`${cacheDirectory({ env: { XDG_CACHE_HOME: cache }, home: '/' }, { plat: [plat] })}\n`);
  expect(printed.startsWith(join(cache, 'plat', 'envtest-'))).toBe(true);
  expect(readFileSync(join(printed.trim(), 'etcd'), 'utf8')).toContain('#!/bin/sh');
});

test('packages of one version at different places have different directories, the same one for each place', () => {
  const of = (file: string): string => cacheDirectory({ env: {}, home: '/home/me' }, { plat: [file] });
  expect(of('/a/dist/plat.js')).toMatch(/^\/home\/me\/\.cache\/plat\/envtest-\d[^/]*-[0-9a-f]{12}$/);
  expect(of('/a/dist/plat.js')).toBe(of('/a/dist/plat.js'));
  expect(of('/a/dist/plat.js')).not.toBe(of('/b/dist/plat.js'));
});

test('programs whose package was moved say what to do', async () => {
  const directory = join(temporaryDirectory('plat-envtest-moved'), 'assets');
  const gone = join(directory, "it's gone", 'dist');
  await writeLaunchers(directory, builtProgram(process.execPath, join(gone, 'plat.js')));
  for (const [program, file] of [
    ['kube-apiserver', 'plat.js'],
    ['etcd', 'etcd.cjs'],
    ['kubectl', 'plat.js'],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(join(directory, program), ['--version'], { env: { PATH: '' }, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `plat envtest: ${join(gone, file)} is no longer there: run plat envtest again\n`,
    });
  }
});

test.skipIf(programMissing !== undefined)('kubectl is the stock program of the PATH, else the commands of plat', async () => {
  const directory = await assets();
  const stock = temporaryDirectory('plat-envtest-stock');
  writeFileSync(join(stock, 'kubectl'), '#!/bin/sh\necho stock "$@"\n');
  chmodSync(join(stock, 'kubectl'), 0o755);
  const empty = join(stock, 'empty');
  mkdirSync(empty);
  const kubectl = (path: string) =>
    execFileSync(join(directory, 'kubectl'), ['version', '--client'], { env: { PATH: path }, encoding: 'utf8' });
  // Directories of plat itself are passed over, that of the script and that of others.
  const other = temporaryDirectory('plat-envtest-other');
  await writeLaunchers(other, builtProgram(process.execPath, join(programDirectory, 'plat.js')));
  const tools = temporaryDirectory('plat-envtest-tools');
  for (const tool of ['dd', 'grep'])
    writeFileSync(join(tools, tool), `#!/bin/sh\nexec /usr/bin/env -i PATH=/usr/bin:/bin ${tool} "$@"\n`, { mode: 0o755 });
  expect(kubectl([tools, directory, other, stock].join(':'))).toBe('stock version --client\n');
  const own = spawnSync(join(directory, 'kubectl'), ['version'], {
    env: { PATH: [tools, directory, other, empty].join(':') },
    encoding: 'utf8',
  });
  expect(own.stdout).toMatch(/^plat \d/);
});

/** Starts kube-apiserver of a directory; answers its address, and a request to a path with its answer's code and text. */
async function apiserver(directory: string, ...flags: string[]) {
  // It would else make a key, which takes longer than its start.
  const keys = temporaryDirectory('plat-envtest-keys');
  provideSigningKey(keys);
  const key = `--service-account-signing-key-file=${join(keys, 'pki', 'sa.key')}`;
  const child = startChild(join(directory, 'kube-apiserver'), ['--secure-port=0', key, ...flags]);
  const address = (await child.line((line) => line.startsWith('serving at '))).slice('serving at '.length);
  return { child, address };
}
const get = (url: string, options: RequestOptions = {}): Promise<{ code: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const request = url.startsWith('https') ? https.get : http.get;
    request(url, { agent: false, ...options }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve({ code: answer.statusCode, text });
    }).on('error', reject);
  });

test.skipIf(programMissing !== undefined)(
  'a certificate is made and written where --cert-dir has none, and served again; --version and /version name the same release',
  async () => {
    const directory = await assets();
    const certificates = join(temporaryDirectory('plat-envtest-certs'), 'new');
    const written: string[] = [];
    for (const flags of [['--authorization-mode=RBAC'], ['--authorization-mode=AlwaysAllow', '--anonymous-auth=true']]) {
      const { child, address } = await apiserver(directory, `--cert-dir=${certificates}`, ...flags);
      written.push(readFileSync(join(certificates, 'apiserver.crt'), 'utf8'));
      expect(statSync(join(certificates, 'apiserver.key')).mode & 0o777).toBe(0o600);
      expect(await get(`${address}/healthz`, { ca: written[0] })).toEqual({ code: 200, text: 'ok' });
      const { text } = await get(`${address}/version`, { ca: written[0] });
      expect(JSON.parse(text)).toMatchObject({ major: '1', minor: '24', gitVersion: expect.stringMatching(/^v1\.24\.17\+plat\./) });
      child.process.kill('SIGTERM');
      expect(await finished(child)).toMatchObject({ code: 0 });
    }
    expect(written[0]).toBe(written[1]);
    expect(execFileSync(join(directory, 'kube-apiserver'), ['--version'], { encoding: 'utf8' })).toBe('Kubernetes v1.24.17\n');
  },
);

test.skipIf(programMissing !== undefined)('old versions of envtest work without credentials on the port without TLS', async () => {
  const port = await freePort();
  const { child } = await apiserver(await assets(), `--insecure-port=${port}`, '--insecure-bind-address=127.0.0.1');
  expect(await get(`http://127.0.0.1:${port}/healthz`)).toEqual({ code: 200, text: 'ok' });
  expect(await get(`http://127.0.0.1:${port}/api/v1/secrets`)).toMatchObject({ code: 200 });
  child.process.kill('SIGTERM');
  expect(await finished(child)).toMatchObject({ code: 0 });
});
