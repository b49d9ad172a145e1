/**
 * Keeps the compiled code of the bundles: what starts of a server, the first, a later one and one in envtest mode, and common
 * commands of a client have used.
 * What lies there already is of this bundle: a new one replaces the whole directory.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledFile, loadToCompile } from '../dist/load.cjs';

if (['bundle', 'cli', 'get', 'schemas'].every((name) => existsSync(compiledFile(name)))) process.exit();
const whole = loadToCompile('bundle');
const client = loadToCompile('cli');
const schemas = loadToCompile('schemas');
schemas.exports.schemaOfKind('apps/v1', 'Deployment');
const { run } = await whole.exports.commands();
const get = loadToCompile('get');
const { run: runClient } = await client.exports.commands();
const { run: runGet } = await get.exports.commands();
const clock = whole.exports.clock();
const directory = await mkdtemp(join(tmpdir(), 'plat-compile-'));
try {
  for (let start = 1; start <= 2; start++) {
    const server = serve('server', '--data-dir', directory, '--secure-port', '0');
    await server.ready;
    await run(['get', 'namespaces', '--kubeconfig', join(directory, 'admin.conf')], io({}));
    // Twice: the first one fetches what the second finds on disk.
    for (let i = 0; i < 2; i++) await request(runGet, 'get', 'namespaces');
    await request(runClient, 'create', 'configmap', 'a', '--from-literal=a=1');
    await request(runClient, 'delete', 'configmap', 'a');
    server.stop();
    await server.ended;
  }
  const server = serve('__kube-apiserver', '--secure-port=0', '--authorization-mode=RBAC', `--cert-dir=${directory}`);
  await server.ready;
  await keep('bundle', whole);
  await keep('cli', client);
  await keep('get', get);
  await keep('schemas', schemas);
  server.stop();
  await server.ended;
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function request(runCommand, ...args) {
  let errors = '';
  const err = (text) => {
    errors += text;
  };
  const code = await runCommand([...args, '--kubeconfig', join(directory, 'admin.conf')], io({ err }));
  if (code !== 0) throw new Error(`plat ${args.join(' ')} ended with code ${code}: ${errors}`);
}

function serve(...args) {
  let stop = () => {};
  let ended;
  let errors = '';
  const ready = new Promise((resolve, reject) => {
    const onSignal = (handler) => {
      stop = () => handler('SIGTERM');
      return () => {};
    };
    const err = (text) => {
      errors += text;
    };
    ended = run(args, io({ out: resolve, err, onSignal }));
    ended.then((code) => reject(new Error(`the server ended with code ${code}: ${errors}`)));
  });
  return { ready, ended, stop: () => stop() };
}

/** A terminal that nobody looks at. */
function io(parts) {
  const terminal = {
    interactive: false,
    write() {},
    writeError() {},
    raw: () => () => {},
    size() {},
    onResize: () => () => {},
    release() {},
  };
  const place = { program: 'plat', env: {}, cwd: directory, home: directory, width: 100 };
  return { ...place, clock, terminal, out() {}, err() {}, stdin: async () => '', exit() {}, onSignal: () => () => {}, ...parts };
}

/** Whoever starts meanwhile must not read half of it. */
async function keep(name, { compiled }) {
  const file = compiledFile(name);
  await writeFile(`${file}.new`, compiled());
  await rename(`${file}.new`, file);
}
