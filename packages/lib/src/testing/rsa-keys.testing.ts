/**
 * RSA keys of 2048 bits for tests. To make one takes longer than most tests, so that those of a whole run share a few, which are
 * made when the first test wants them.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys of different numbers differ. */
export type RsaKeyNumber = 0 | 1 | 2 | 3;

const made = new Map<RsaKeyNumber, { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>();

export function rsaKeys(number: RsaKeyNumber): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const known = made.get(number);
  if (known !== undefined) return known;
  const privateKey = createPrivateKey(ofTheRun(number) ?? newKey(number));
  const pair = { privateKey, publicKey: createPublicKey(privateKey) };
  made.set(number, pair);
  return pair;
}

/** Where processes of a run find the keys of each other (test/support/temporary-run.ts). */
function fileOf(number: RsaKeyNumber): string | undefined {
  const directory = process.env.PLAT_TEST_RUN_DIRECTORY;
  return directory && join(directory, `rsa-${number}.key`);
}

function ofTheRun(number: RsaKeyNumber): string | undefined {
  const file = fileOf(number);
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function newKey(number: RsaKeyNumber): string {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const file = fileOf(number);
  if (file !== undefined) {
    // Another process finds the file whole, or not at all.
    const own = `${file}.${process.pid}`;
    writeFileSync(own, key, { mode: 0o600 });
    renameSync(own, file);
  }
  return key;
}
