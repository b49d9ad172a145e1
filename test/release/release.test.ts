/** `npm run release`: the same bytes wherever it is made, nothing of the machine in them, and an executable that needs no Node. */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { productVersion } from '../../packages/lib/src/version.ts';
import { copyCheckout } from './copies.ts';

const platform = `${process.platform}-${process.arch}`;
const triple = { 'linux-x64': 'x86_64', 'linux-arm64': 'aarch64' }[platform];
const missing =
  triple === undefined
    ? 'executables are tried on Linux'
    : spawnSync(`${triple}-linux-gnu-strip`, ['--version']).error === undefined
      ? undefined
      : 'binutils are not installed';
const mayMount = spawnSync('unshare', ['-m', 'mount', '--bind', '/dev/null', '/dev/null']).status === 0;
const executable = `plat-${platform}`;

describe.skipIf(missing !== undefined)('a release', () => {
  let parent: string;
  let files: Map<string, Buffer>;
  let others: Map<string, Buffer>;

  beforeAll(async () => {
    parent = temporaryDirectory('plat-release');
    const places = [join(parent, 'first'), join(parent, 'another place', 'with', 'a longer name')];
    const [first, second] = await Promise.all(places.map(release));
    files = first as Map<string, Buffer>;
    others = second as Map<string, Buffer>;
  }, 1_200_000);

  test('has the same bytes in two directories', () => {
    expect([...files.keys()]).toEqual([...others.keys()]);
    expect([...files].filter(([name, bytes]) => !bytes.equals(others.get(name) as Buffer)).map(([name]) => name)).toEqual([]);
  });

  test('has the packages, an executable, checksums, materials, licences and notes', () => {
    const names = [...files.keys()];
    expect(names).toEqual(expect.arrayContaining(['SHA256SUMS', `${executable}.gz`, 'licences.txt', 'notes.md', 'sbom.cdx.json']));
    expect(names).toContain(`plat-dev-plat-${productVersion}.tgz`);
    const { metadata, components } = JSON.parse(String(files.get('sbom.cdx.json')));
    expect(metadata.timestamp).toBe('2026-01-02T03:04:05Z');
    expect(components.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['lmdb', 'ws', 'undici', 'node']));
    expect(String(files.get('licences.txt'))).toContain('OpenSSL');
    const checked = spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: join(parent, 'first', 'release') });
    expect(String(checked.stderr)).toBe('');
    expect(checked.status).toBe(0);
  });

  test('holds no path and no name of this machine', () => {
    const traces = [parent, join(import.meta.dirname, '../..'), hostname(), userInfo().homedir, userInfo().username];
    // Names such as root and vm are words as well.
    const telling = traces.filter((trace) => trace.length > 6);
    expect(telling.length).toBeGreaterThanOrEqual(2);
    for (const [name, bytes] of files) {
      const content = /gz$/.test(name) ? gunzipSync(bytes) : bytes;
      for (const trace of telling) expect([name, trace, content.includes(trace)]).toEqual([name, trace, false]);
    }
  });

  test.skipIf(!mayMount)(
    'its executable runs where there is no Node: server, commands, workloads, backup, envtest',
    async () => {
      const directory = temporaryDirectory('plat-executable');
      const file = join(directory, 'plat');
      writeFileSync(file, gunzipSync(files.get(`${executable}.gz`) as Buffer));
      chmodSync(file, 0o755);
      const work = join(directory, 'work');
      mkdirSync(work);
      const args = ['-m', 'sh', join(import.meta.dirname, 'without-node.sh'), file, work, 'hidden'];
      const { stdout, stderr } = await promisify(execFile)('unshare', args, { encoding: 'utf8' });
      const steps = 'hidden version names completion start apply workloads watch console backup stopped envtest'.split(' ');
      expect({ stdout, stderr }).toEqual({ stdout: steps.map((step) => `ok ${step}\n`).join(''), stderr: '' });
    },
    300_000,
  );
});

/** The files of a release that is made in a new directory. */
async function release(directory: string): Promise<Map<string, Buffer>> {
  copyCheckout(directory);
  const args = ['scripts/release.mjs', productVersion, '--no-tests', '--platform', platform];
  await promisify(execFile)(process.execPath, args, { cwd: directory, maxBuffer: 1 << 26 });
  const made = join(directory, 'release');
  return new Map(
    readdirSync(made)
      .sort()
      .map((name) => [name, readFileSync(join(made, name))]),
  );
}
