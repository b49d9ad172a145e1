/** Configuration files with keys made for the run, and what a store's files hold. */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOOK_MS } from '../../packages/compose/src/store/encryption.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { groupName } from '../../packages/meta/src/identity.ts';
import { identityOf } from '../../packages/meta/src/identity-file.ts';
import type { TestServerOptions } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

export interface KeyPair {
  readonly name: string;
  readonly secret: string;
}
export const newKey = (name: string, bytes = 32): KeyPair => ({ name, secret: randomBytes(bytes).toString('base64') });

export type ProviderEntry = Readonly<Record<string, unknown>>;
export const local = (type: 'aescbc' | 'aesgcm' | 'secretbox', ...keys: readonly KeyPair[]): ProviderEntry => ({ [type]: { keys } });
export const identityEntry: ProviderEntry = { identity: {} };

export const configText = (
  identity: string,
  ...rules: readonly { resources: readonly string[]; providers: readonly ProviderEntry[] }[]
): string =>
  jsonText({
    apiVersion: `${groupName(identityOf(identity), 'apiserver.config')}/v1`,
    kind: 'EncryptionConfiguration',
    resources: rules,
  });

/** A file that is replaced as a whole, as tools do that put configuration in place. */
export class ConfigFile {
  readonly path = join(temporaryDirectory('plat-encryption'), 'encryption.yaml');
  readonly identity: string;
  constructor(identity: string, providers: readonly ProviderEntry[], resources: readonly string[] = ['secrets']) {
    this.identity = identity;
    this.write(providers, resources);
  }
  write(providers: readonly ProviderEntry[], resources: readonly string[] = ['secrets']): void {
    this.writeText(configText(this.identity, { resources, providers }));
  }
  writeText(text: string): void {
    writeFileSync(`${this.path}.new`, text, { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }
}

/** Of a server that uses a changed file soon. */
export const soon: Pick<TestServerOptions, 'clock'> = { clock: shortWaits({ every: [LOOK_MS] }) };

/** Files below a directory that hold a text. */
export function filesHolding(directory: string, text: string): string[] {
  const wanted = Buffer.from(text);
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(wanted));
}

/** Calls again until an answer fits. The test's own time limit ends it. */
export async function eventually<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
