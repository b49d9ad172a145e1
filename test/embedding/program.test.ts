/** The built program: how it is started, what a command loads of it, and where compiled code is kept. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programDirectory, programMissing } from '../support/program.ts';

const program = join(programDirectory, 'plat.js');
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;

/** Runs the program by its first line. */
async function plat(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(file, args, { env: { PATH, HOME: temporaryDirectory('plat-home'), ...env } });
  expect(stderr).toBe('');
  return stdout;
}

describe.skipIf(programMissing !== undefined)('the program', () => {
  test('is run by Node without a shell, by a link and with any argument', async () => {
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    const link = join(temporaryDirectory('plat-link'), 'plat');
    symlinkSync(program, link);
    expect(await plat(link, ['version', '--client'])).toMatch(/^plat \d/);
    expect(
      await plat(link, ['create', 'configmap', 'a', '--from-literal', 'a= *$x "b"', '--dry-run=client', '-o', 'jsonpath={.data.a}']),
    ).toBe(' *$x "b"');
  });

  test('loads a command and what it imports', async () => {
    const directory = temporaryDirectory('plat-loaded');
    const preload = join(directory, 'report-loaded.cjs');
    writeFileSync(
      preload,
      `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')));`,
    );
    const loaded = async (...args: string[]): Promise<number> => {
      const report = join(directory, 'loaded');
      await plat(program, args, { NODE_OPTIONS: `--require=${JSON.stringify(preload)}`, LOADED: report });
      const files = readFileSync(report, 'utf8').split('\n');
      return files.filter((file) => file.startsWith(programDirectory)).reduce((sum, file) => sum + statSync(file).size, 0);
    };
    const ofClient = await loaded('get', '--help');
    // Kinds and their validation are twice as much, the server is four times as much.
    expect(ofClient).toBeLessThan(500_000);
    expect(await loaded('convert', '--help')).toBeGreaterThan(2 * ofClient);
  });
});

const keepsCompiledCode = 'enableCompileCache' in nodeModule;
describe.skipIf(programMissing !== undefined)('compiled code', () => {
  const filesIn = (directory: string): string[] =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name));

  test.skipIf(!keepsCompiledCode)('is kept for the next run in the cache of the user, and made again where it was damaged', async () => {
    const cache = temporaryDirectory('plat-user-cache');
    const version = (): Promise<string> => plat(program, ['version', '--client'], { XDG_CACHE_HOME: cache });
    const output = await version();
    const kept = filesIn(join(cache, 'plat', 'compiled'));
    expect(kept.length).toBeGreaterThan(0);
    for (const file of kept) writeFileSync(file, Buffer.from(readFileSync(file)).fill(0x55));
    expect(await version()).toBe(output);
  });

  test('is not needed: without a place for it the program runs as well', async () => {
    const file = join(temporaryDirectory('plat-no-cache'), 'file');
    writeFileSync(file, '');
    expect(await plat(program, ['version', '--client'], { XDG_CACHE_HOME: file })).toMatch(/^plat \d/);
    const readOnly = temporaryDirectory('plat-read-only');
    mkdirSync(join(readOnly, 'plat'), { mode: 0o500 });
    expect(await plat(program, ['version', '--client'], { XDG_CACHE_HOME: readOnly })).toMatch(/^plat \d/);
  });
});
