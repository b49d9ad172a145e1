/**
 * Keeps the compiled code of a bundle: what starts of a server, the first, a later one and one in envtest mode, and a request
 * have used.
 * What lies there already is of this bundle: a new one replaces the whole directory.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledFile, loadToCompile } from '../dist/load.cjs';

if (existsSync(compiledFile)) process.exit();
const { exports, compiled } = loadToCompile();
const { run } = await exports.commands();
const clock = exports.clock();
const directory = await mkdtemp(join(tmpdir(), 'plat-compile-'));
try {
  for (let start = 1; start <= 2; start++) {
    const server = serve('server', '--data-dir', directory, '--secure-port', '0');
    await server.ready;
    await run(['get', 'namespaces', '--kubeconfig', join(directory, 'admin.conf')], io({}));
    server.stop();
    await server.ended;
  }
  const server = serve('__kube-apiserver', '--secure-port=0', '--authorization-mode=RBAC', `--cert-dir=${directory}`);
  await server.ready;
  await keep();
  server.stop();
  await server.ended;
} finally {
  await rm(directory, { recursive: true, force: true });
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
  const quiet = { clock, out() {}, err() {}, env: {}, cwd: directory, home: directory, width: 100, exit() {}, onSignal: () => () => {} };
  return { ...quiet, ...parts };
}

/** Whoever starts meanwhile must not read half of it. */
async function keep() {
  await writeFile(`${compiledFile}.new`, compiled());
  await rename(`${compiledFile}.new`, compiledFile);
}
