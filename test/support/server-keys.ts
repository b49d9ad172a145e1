/**
 * Keys and certificates of servers: making them, and writing them durably, is a third of a start. The first servers of a process
 * make theirs; later ones find a set of these in the place where a server looks for what it made before, in turn, so that servers
 * that run at the same time have different authorities.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sets that are kept for an identity, whose name is in the certificates. */
const MAX_SETS = 4;

const files = ['ca', 'server', 'front-proxy-ca', 'front-proxy-client', 'admin'].flatMap((name) => [`${name}.key`, `${name}.crt`]);
type KeySet = ReadonlyMap<string, string>;
const known = new Map<string, KeySet[]>();
let turn = 0;

/** Writes a set into the directory of a server, once there are enough of them. */
export function provideKeys(dataDir: string, identity: string): void {
  const sets = known.get(identity) ?? [];
  const set = sets[turn++ % MAX_SETS];
  if (sets.length < MAX_SETS || set === undefined) return;
  const directory = join(dataDir, 'pki');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [file, content] of set) writeFileSync(join(directory, file), content, { mode: 0o600 });
}

/** Keeps what a server has made, unless there are enough sets. */
export function keepKeys(dataDir: string, identity: string): void {
  const sets = known.get(identity) ?? [];
  const paths = files.map((file) => join(dataDir, 'pki', file));
  if (sets.length >= MAX_SETS || !paths.every((path) => existsSync(path))) return;
  known.set(identity, [...sets, new Map(files.map((file, i) => [file, readFileSync(paths[i] as string, 'utf8')]))]);
}
