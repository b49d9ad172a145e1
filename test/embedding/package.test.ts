/** The program as it is started: with a clear message where Node is too old, and by npm. Programs that load the package: packed.test.ts. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startChild } from '../support/child.ts';
import { finished, programDirectory, programMissing } from '../support/program.ts';

const node = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
};

test.skipIf(programMissing !== undefined)('a version of Node that is too old is named', async () => {
  for (const version of ['16.20.2', '20.18.0', '21.7.3', '22.8.0']) {
    const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const { code, err } = await node('--import', old, `${programDirectory}/plat.js`, 'version');
    expect({ code, err }).toEqual({ code: 1, err: `plat: Node 20.18.1, 22.9 or newer is needed; this is ${version}\n` });
  }
});

/** The error of a connection to a port that nothing listens on. */
const refusal = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.once('connect', () => resolve(socket.destroy() && undefined));
  });

test.skipIf(programMissing !== undefined)('npm start is the server: a signal to npm ends it, and its port is free', async () => {
  const { scripts } = JSON.parse(readFileSync(join(programDirectory, '../package.json'), 'utf8')) as { scripts: Record<string, string> };
  // Nothing for a shell: on Windows there is another one.
  expect(scripts.start).toMatch(/^node [\w./]+$/);
  const project = temporaryDirectory('plat-npm-start');
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, scripts: { start: scripts.start } }));
  symlinkSync(programDirectory, join(project, 'dist'));
  // The program is built already, and other tests run it.
  mkdirSync(join(project, 'scripts'));
  cpSync(join(programDirectory, '../scripts/start.mjs'), join(project, 'scripts/start.mjs'));
  writeFileSync(join(project, 'scripts/build.mjs'), '');
  const quiet = '--no-update-notifier --logs-max=0 --script-shell=/bin/sh';
  const child = startChild('sh', ['-c', `cd ${JSON.stringify(project)} && exec npm start ${quiet} -- --store memory --secure-port 0`]);
  const ready = await child.line((line) => line.includes('is ready at'));
  const port = Number(/is ready at https:\/\/127\.0\.0\.1:(\d+)/.exec(ready)?.[1]);
  child.process.kill('SIGTERM');
  await finished(child);
  expect(await refusal(port)).toBe('ECONNREFUSED');
});
