/**
 * The key that signs service account tokens takes longer to make than all the rest of a start. Servers of one test process get the
 * same one, in the place where a server looks for the key that it made before.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

let made: string | undefined;

export function provideSigningKey(dataDir: string): void {
  const directory = join(dataDir, 'pki');
  const file = join(directory, 'sa.key');
  if (existsSync(file)) return;
  made ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(file, made, { mode: 0o600 });
}
