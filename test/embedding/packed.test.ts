/** The package as `npm pack` makes it: installed into an empty directory it runs, and has all that it names. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programMissing } from '../support/program.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  exports: Record<string, Record<string, string>>;
};
const run = promisify(execFile);

/** Packing takes about two thirds of the time of this file, and compression about a third; how well npm compresses is not tested here. */
const COMPRESS_QUICKLY = `
const zlib = require('node:zlib');
const { Gzip } = zlib;
zlib.Gzip = function QuickGzip(options) { return new Gzip({ ...options, level: 1 }); };
`;

/** Loads what only encryption needs. */
const ENCRYPTION = {
  apiVersion: 'apiserver.config.plat.dev/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    { resources: ['namespaces'], providers: [{ secretbox: { keys: [{ name: 'key1', secret: Buffer.alloc(32).toString('base64') }] } }] },
  ],
};

/** A server, then one of the kit for tests: its errors are of the class that the package exports, and nothing keeps the process alive. */
const programOf = (serviceAccountSigningKeyFile: string, encryptionProviderConfig: string): string => `
const log = { error() {}, warn() {}, info() {}, debug() {}, enabled: () => false, child: () => log, flush() {} };
const files = ${JSON.stringify({ serviceAccountSigningKeyFile, encryptionProviderConfig })};
const options = { store: 'memory', securePort: 0, ...files };
const server = await startServer(options, { log });
console.log(server.adminConfig.includes(server.address), typeof Transport);
await server.close();
const kit = await startTestServer({ identity: 'kubernetes' });
const { metadata } = await kit.client().core.v1.namespaces().create({ metadata: { name: 'a' } });
const error = await kit.client('alice').core.v1.namespaces().get('a').catch((thrown) => thrown);
console.log(metadata.name, error instanceof ApiError, error.reason);
await kit.close();
`;

describe.skipIf(programMissing !== undefined)('the packed package', () => {
  let project: string;
  let installed: string;
  let env: NodeJS.ProcessEnv;
  const plat = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(join(project, 'node_modules', '.bin', 'plat'), args, { cwd: project, env });
    return stdout;
  };

  // As npm installs it; dependencies are those of this checkout, so that no registry is asked.
  beforeAll(async () => {
    project = temporaryDirectory('plat-packed');
    const preload = join(project, 'compress-quickly.cjs');
    writeFileSync(preload, COMPRESS_QUICKLY);
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: `--require=${JSON.stringify(preload)}` },
    });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    installed = join(project, 'node_modules', manifest.name);
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', installed]);
    for (const name of Object.keys(manifest.dependencies)) {
      mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
    mkdirSync(join(project, 'node_modules', '.bin'));
    symlinkSync(join(installed, 'dist', 'plat.js'), join(project, 'node_modules', '.bin', 'plat'));
    env = {
      ...process.env,
      HOME: project,
      XDG_STATE_HOME: join(project, 'state'),
      XDG_CACHE_HOME: join(project, 'cache'),
      KUBECONFIG: '',
      PLATCONFIG: '',
    };
  }, 300_000);

  test('holds the program, its documents and nothing of the sources', () => {
    expect(manifest.name).toMatch(/^@[a-z-]+\/plat$/);
    expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'docs', 'examples', 'package.json']);
    for (const file of ['plat.js', 'etcd.cjs', 'chunks']) expect(existsSync(join(installed, 'dist', file)), file).toBe(true);
    expect(statSync(join(installed, 'dist', 'plat.js')).mode & 0o111).toBe(0o111);
  });

  test('loads its dependencies as scripts do: in Jest, `import()` works only with a flag of Node', () => {
    // What browsers load is none of them.
    const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
    const scripts = files.filter((name) => /\.c?js$/.test(name) && !name.startsWith('console'));
    const loadedByImport = scripts.filter((name) => /\bimport\([`'"]/.test(readFileSync(join(installed, 'dist', name), 'utf8')));
    expect([scripts.length > 10, loadedByImport]).toEqual([true, []]);
  });

  test('has the modules that it exports, for both kinds: a server and one of the kit start and end, share classes, and let the process end', async () => {
    for (const [path, { import: esm, require: cjs }] of Object.entries(manifest.exports))
      for (const file of [esm, cjs]) expect(existsSync(join(installed, file as string)), `${path}: ${file}`).toBe(true);
    // Each would else make a key, which takes longer than its start.
    provideSigningKey(project);
    const encryption = join(project, 'encryption.json');
    writeFileSync(encryption, JSON.stringify(ENCRYPTION), { mode: 0o600 });
    const body = programOf(join(project, 'pki', 'sa.key'), encryption);
    const { name } = manifest;
    for (const [type, program] of [
      ['module', `import { ApiError, startServer, Transport } from '${name}'; import { startTestServer } from '${name}/testing'; ${body}`],
      [
        'commonjs',
        `const { ApiError, startServer, Transport } = require('${name}'); const { startTestServer } = require('${name}/testing'); (async () => { ${body} })();`,
      ],
    ]) {
      // A program that does not end by itself would not be done.
      const { stdout, stderr } = await run(process.execPath, [`--input-type=${type}`, '-e', program as string], { cwd: project, env });
      expect({ type, stdout, stderr }).toEqual({ type, stdout: 'true function\na true Forbidden\n', stderr: '' });
    }
    expect(readdirSync(project).filter((name) => name.startsWith('.'))).toEqual([]);
  }, 300_000);

  test('runs: version, a server with a store on disk, a command in a pod, the programs for envtest', async () => {
    expect(await plat('version')).toContain(`plat ${manifest.version}`);
    provideSigningKey(join(project, 'state', 'plat', 'servers', 'packed', 'data'));
    try {
      await plat('up', 'packed', '--identity', 'kubernetes', '--wait', '--', '--workloads', '--simulated-nodes', '1');
      const context = ['--context', 'plat-packed'];
      expect(await plat('get', 'ns', 'default', '-o', 'name', ...context)).toBe('namespace/default\n');
      // Both sides of a WebSocket, whose library is a dependency.
      await plat('wait', '--for=create', 'serviceaccount/default', ...context);
      await plat('run', 'web', '--image', 'nginx', ...context);
      await plat('wait', '--for=condition=Ready', 'pod/web', ...context);
      expect(await plat('exec', 'web', ...context, '--', 'echo', 'hello')).toBe('hello\n');
    } finally {
      expect(await plat('down', 'packed')).toBe('packed removed\n');
    }
    const assets = (await plat('envtest')).trim();
    // The scripts lead into the package, not into where it was built.
    for (const name of ['kube-apiserver', 'etcd'])
      expect(readFileSync(join(assets, name), 'utf8')).toContain(`'${join(installed, 'dist')}/`);
    expect((await run(join(assets, 'kube-apiserver'), ['--version'], { env })).stdout).toBe('Kubernetes v1.24.17\n');
  }, 300_000);
});
