/** A server that finds no file descriptors waits for them, at its start and while it runs. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { bundleChild, startChild } from '../support/child.ts';
import { Client } from '../support/client.ts';
import { provideSigningKey } from '../support/signing-key.ts';

let program: string;
beforeAll(async () => {
  program = await bundleChild(join(import.meta.dirname, 'descriptors-child.ts'));
});

test.each([
  ['all', 0],
  ['all but those that the database library needs to be loaded', 10],
])('descriptors that are exhausted during the first start and later are waited for: %s', async (_, free) => {
  const dataDir = temporaryDirectory('plat-descriptors');
  provideSigningKey(dataDir);
  const child = startChild('/bin/sh', ['-c', `ulimit -n 128; exec "${process.execPath}" "${program}" "${dataDir}" ${free}`]);
  const say = async (word: string): Promise<void> => {
    const done = child.line((line) => line === `done ${word}`);
    child.process.stdin?.write(`${word}\n`);
    await done;
  };
  await child.line((line) => line.startsWith('no file descriptors are free, waiting'));
  expect(child.lines.some((line) => line.startsWith('ready'))).toBe(false);
  const ready = child.line((line) => line.startsWith('ready '));
  await say('release');
  const address = (await ready).slice('ready '.length);
  const livez = async (): Promise<number> => {
    const client = new Client(address);
    try {
      return (await client.get('/livez')).status;
    } finally {
      client.close();
    }
  };
  expect(await livez()).toBe(200);
  await say('take');
  // Connections are closed or wait; the server stays.
  const refused = livez().catch(() => 'refused');
  await say('release');
  await refused;
  expect(await livez()).toBe(200);
  child.process.kill('SIGKILL');
  await child.ended;
  rmSync(dataDir, { recursive: true, force: true });
});
