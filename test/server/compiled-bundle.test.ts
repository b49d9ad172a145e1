/** The program brings along what was compiled of it. It must run as well where that is missing, damaged or of another bundle. */
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { nodeFlags } from '../../src/cli/own-program.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { startChild } from '../support/child.ts';
import { finished, programDirectory, programMissing } from '../support/program.ts';

const directory = temporaryDirectory('plat-compiled');
const isCompiled = (file: string): boolean => file.includes('.cjs.') && !file.endsWith('.map');
/** One file for each bundle. */
const compiled = new Map<string, Buffer>();
const change = (how: (bytes: Buffer) => Buffer): void => {
  for (const [file, bytes] of compiled) writeFileSync(file, how(bytes));
};

beforeAll(() => {
  if (programMissing !== undefined) return;
  cpSync(programDirectory, directory, { recursive: true });
  for (const name of readdirSync(directory).filter(isCompiled)) {
    compiled.set(join(directory, name), readFileSync(join(directory, name)));
  }
});

/** Answers whether the engine used what was compiled before, for a command and with flags of Node. */
async function usesCompiled(args = ['version', '--client'], output = 'plat 0.', flags: readonly string[] = []): Promise<boolean> {
  const text = `
    import { Script } from 'node:vm';
    const run = Script.prototype.runInThisContext;
    Script.prototype.runInThisContext = function () {
      console.log('rejected', this.cachedDataRejected);
      return run.call(this);
    };
    process.argv.push(...${JSON.stringify(args)});
    await import('./plat.js');`;
  writeFileSync(join(directory, 'look.mjs'), text);
  const { code, stdout, stderr } = await finished(startChild(process.execPath, [...flags, join(directory, 'look.mjs')]));
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain(output);
  return stdout.includes('rejected false');
}

test.skipIf(programMissing !== undefined)('a server uses it under the flags that it runs with', async () => {
  expect(await usesCompiled(['server', '--help'], '--data-dir', nodeFlags)).toBe(true);
});

test.skipIf(programMissing !== undefined)('what was compiled is used as long as it is whole and of this bundle', async () => {
  expect(await usesCompiled()).toBe(true);
  change((bytes) => bytes.subarray(0, bytes.length / 2));
  expect(await usesCompiled()).toBe(false);
  change(() => Buffer.alloc(0));
  expect(await usesCompiled()).toBe(false);
  change((bytes) => Buffer.from(bytes).fill(0x55, bytes.length / 2, bytes.length / 2 + 1000));
  expect(await usesCompiled()).toBe(false);
  for (const file of compiled.keys()) rmSync(file);
  expect(await usesCompiled()).toBe(false);
  change((bytes) => bytes);
  expect(await usesCompiled()).toBe(true);
  for (const name of ['bundle.cjs', 'cli.cjs', 'get.cjs']) appendFileSync(join(directory, name), ' ');
  expect(await usesCompiled()).toBe(false);
});
