/**
 * Keeps the compiled code of a bundle: what two starts of a server, the first and a later one, and a request have used.
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
const directory = await mkdtemp(join(tmpdir(), 'plat-compile-'));
try {
  for (let start = 1; start <= 2; start++) {
    const server = serve();
    await server.ready;
    await run(['get', 'namespaces', '--kubeconfig', join(directory, 'admin.conf')], io({}));
    if (start === 2) await keep();
    server.stop();
    await server.ended;
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

function serve() {
  let stop = () => {};
  let ended;
  const ready = new Promise((resolve, reject) => {
    const onSignal = (handler) => {
      stop = () => handler('SIGTERM');
      return () => {};
    };
    ended = run(['server', '--data-dir', directory, '--secure-port', '0'], io({ out: resolve, onSignal }));
    ended.then((code) => reject(new Error(`the server ended with code ${code}`)));
  });
  return { ready, ended, stop: () => stop() };
}

/** A terminal that nobody looks at. */
function io(parts) {
  const quiet = { out() {}, err() {}, env: {}, cwd: directory, home: directory, width: 100, exit() {}, onSignal: () => () => {} };
  return { ...quiet, ...parts };
}

/** Whoever starts meanwhile must not read half of it. */
async function keep() {
  await writeFile(`${compiledFile}.new`, compiled());
  await rename(`${compiledFile}.new`, compiledFile);
}
