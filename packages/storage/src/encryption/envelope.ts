/**
 * Envelope encryption, as the kms provider of a stock server in version v1: every write has a key of its own, the plug-in
 * encrypts that key, and both are stored together.
 *
 *   k8s:enc:kms:v1:vault:   length (2 bytes)   encrypted key   IV (16)   AES-CBC of the value
 *
 * Recently encrypted or decrypted keys are cached (`plugin-keys.ts`).
 */

import { type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { type Kms, LARGEST_CIPHER } from './kms.ts';
import { type EnvelopeOptions, PluginKeys } from './plugin-keys.ts';
import { openCbc, type Provider, sealCbc } from './provider.ts';

export class Envelope implements Provider {
  readonly type = 'kms';
  readonly prefix: Buffer;
  readonly id: string;
  readonly kms: Kms;
  readonly #options: EnvelopeOptions;
  readonly #keys: PluginKeys;

  constructor(options: EnvelopeOptions) {
    this.#options = options;
    this.prefix = options.prefix;
    this.id = options.id;
    this.kms = options.kms;
    this.#keys = new PluginKeys(options);
  }

  async seal(value: Buffer): Promise<Buffer> {
    const { cipher, key } = await this.#keys.generate();
    const length = Buffer.allocUnsafe(2);
    length.writeUInt16BE(cipher.length);
    return sealCbc(Buffer.concat([this.prefix, length, Buffer.from(cipher, 'latin1')]), key, value, this.#options.random);
  }

  open(stored: Buffer): MaybePromise<Buffer | undefined> {
    const cipher = this.#cipherOf(stored);
    if (cipher === undefined) return undefined;
    const end = this.prefix.length + 2 + cipher.length;
    return whenReady(this.#keys.keyOf(cipher), (key) => openCbc(stored, end, key));
  }

  distrust(stored: Buffer): void {
    const cipher = this.#cipherOf(stored);
    if (cipher !== undefined) this.#keys.forget(cipher);
  }

  /** The encrypted key of a stored value, as text; undefined when the bytes are not of that form. */
  #cipherOf(stored: Buffer): string | undefined {
    const at = this.prefix.length + 2;
    if (stored.length < at) return undefined;
    const length = stored.readUInt16BE(this.prefix.length);
    return length === 0 || length > LARGEST_CIPHER || stored.length < at + length ? undefined : stored.toString('latin1', at, at + length);
  }
}
