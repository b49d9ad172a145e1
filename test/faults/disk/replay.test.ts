/** What a power loss leaves, on processes whose disk calls were recorded. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../packages/lib/src/random.ts';
import { temporaryDirectory } from '../../../packages/lib/src/testing/temporary.testing.ts';
import { bundleChild, startChild } from '../../support/child.ts';
import { afterPowerLoss, type Loss, losses, readImage } from './replay.ts';
import { buildShim, shimEnvironment } from './shim.ts';

const { path: shim, missing } = buildShim(temporaryDirectory('plat-shim'));

/** Runs a script with the directory as its argument under the shim; answers what a power loss at its end leaves. */
async function filesAfter(
  script: string | { file: string; args: string[] },
  loss: Loss,
  options: { lying?: boolean; killAt?: number } = {},
) {
  const work = temporaryDirectory('plat-power');
  const directory = join(work, 'data');
  const log = join(work, 'calls');
  mkdirSync(directory);
  writeFileSync(join(directory, 'old'), 'o'.repeat(8_192));
  const before = readImage(directory);
  const killAt = options.killAt === undefined ? {} : { killAt: { count: options.killAt, file: '/a', half: false } };
  const env = shimEnvironment(shim as string, { directory, log, ...killAt });
  const argv =
    typeof script === 'string'
      ? ['-e', `const fs = require('node:fs'); const d = process.argv[1]; ${script}`, directory]
      : [script.file, ...script.args.map((arg) => join(directory, arg))];
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const child = startChild('env', [...assignments, process.execPath, ...argv]);
  await child.ended;
  expect(child.errors()).toBe('');
  const { files, undurable } = afterPowerLoss(before, readFileSync(log), { loss, random: seededRandom(7), ...options });
  return {
    names: [...files].map(
      ([path, bytes]) =>
        `${path.slice(directory.length + 1)}=${bytes.toString().replace(/(.)\1{9,}/g, (all, one) => `${one}*${all.length}`)}`,
    ),
    undurable,
  };
}

test.skipIf(missing !== undefined)(
  `what was synced stays, what was not can go${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const script = `
    const a = fs.openSync(d + '/a', 'w'); fs.writeSync(a, 'one'); fs.fsyncSync(a); fs.writeSync(a, 'two');
    const b = fs.openSync(d + '/b', fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_DSYNC); fs.writeSync(b, 'three');
    const directory = fs.openSync(d, 'r'); fs.fsyncSync(directory);
    const c = fs.openSync(d + '/old', 'r+'); fs.writeSync(c, 'new', 0); fs.ftruncateSync(c, 4096);`;
    expect(await filesAfter(script, 'nothing kept')).toEqual({ names: ['old=o*8192', 'a=one', 'b=three'], undurable: 3 });
    expect(await filesAfter(script, 'all kept')).toEqual({ names: ['old=newo*4093', 'a=onetwo', 'b=three'], undurable: 3 });
    // Two calls are not durable by any sync: on a disk that lies none is.
    expect((await filesAfter(script, 'nothing kept', { lying: true })).names[0]).toBe('old=o*8192');
  },
);

test.skipIf(missing !== undefined)('a write that had not returned may be there by sectors, never outside its place', async () => {
  // The second call on the file is the write.
  const script = `const a = fs.openSync(d + '/a', fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_DSYNC);
    fs.fsyncSync(fs.openSync(d, 'r')); fs.writeSync(a, 'x'.repeat(2048));`;
  const seen = await filesAfter(script, 'sectors', { killAt: 2 });
  expect(seen.undurable).toBe(1);
  const a = (seen.names.find((name) => name.startsWith('a=')) as string).slice(2);
  expect(a).toMatch(/^(x\*(512|1024|1536|2048)|\0\*(512|1024|1536|2048))*$/);
});

test.skipIf(missing !== undefined)('a secret file is durable when its writing has been answered', async () => {
  const file = await bundleChild(join(import.meta.dirname, 'secret-child.ts'));
  for (const loss of losses) expect((await filesAfter({ file, args: ['pki/sa.key'] }, loss)).names).toContain('pki/sa.key=content');
});
