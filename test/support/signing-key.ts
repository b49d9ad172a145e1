/**
 * The key that signs service account tokens takes longer to make than all the rest of a start. Servers of one test run get the same
 * one, in the place where a server looks for the key that it made before.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The variable that names the file with the key of this run. */
const VARIABLE = 'PLAT_TEST_SIGNING_KEY';
let made: string | undefined;

/** Makes the key of a run, for all of its processes and projects. */
export function writeSigningKey(directory: string): void {
  if (process.env[VARIABLE] !== undefined) return;
  const file = join(directory, 'signing.key');
  writeFileSync(file, newKey(), { mode: 0o600 });
  process.env[VARIABLE] = file;
}

export function provideSigningKey(dataDir: string): void {
  const directory = join(dataDir, 'pki');
  const file = join(directory, 'sa.key');
  if (existsSync(file)) return;
  made ??= process.env[VARIABLE] === undefined ? newKey() : readFileSync(process.env[VARIABLE], 'utf8');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(file, made, { mode: 0o600 });
}

const newKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
