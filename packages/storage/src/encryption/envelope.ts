/**
 * Envelope encryption, as the kms provider of a stock server in version v1: every write has a key of its own, the plug-in
 * encrypts that key, and both are stored together.
 *
 *   k8s:enc:kms:v1:vault:   length (2 bytes)   encrypted key   IV (16)   AES-CBC of the value
 *
 * Recently encrypted or decrypted keys are cached, so that most reads need no plug-in.
 */

import { createSecretKey, type KeyObject } from 'node:crypto';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Random } from '@plat-dev/lib/random';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { type Kms, LARGEST_CIPHER } from './kms.ts';
import { openCbc, type Provider, ProviderUnavailable, sealCbc } from './provider.ts';

const KEY_BYTES = 32;
/** Maximum values that wait for the plug-in; further ones are unreadable until it has caught up. */
export const MOST_WAITING = 10_000;
/** Maximum concurrent calls of the plug-in. */
export const MOST_CALLS = 32;

export interface EnvelopeObserver {
  cacheMiss(): void;
  /** Between 0 and 1. */
  cacheFill(share: number): void;
  keyGenerated(millis: number, ok: boolean): void;
}

export interface EnvelopeOptions {
  readonly prefix: Buffer;
  readonly id: string;
  readonly kms: Kms;
  readonly cacheSize: number;
  readonly random: Random;
  readonly observer: EnvelopeObserver;
  readonly now: () => number;
}

export class Envelope implements Provider {
  readonly type = 'kms';
  readonly prefix: Buffer;
  readonly id: string;
  readonly kms: Kms;
  readonly #options: EnvelopeOptions;
  /** Encrypted key → key, the least recently used first. */
  readonly #keys: BoundedCache<string, KeyObject>;
  readonly #decrypting = new Map<string, Promise<KeyObject>>();
  readonly #queue: (() => void)[] = [];
  #calls = 0;

  constructor(options: EnvelopeOptions) {
    this.#options = options;
    this.prefix = options.prefix;
    this.id = options.id;
    this.kms = options.kms;
    this.#keys = new BoundedCache(options.cacheSize);
  }

  async seal(value: Buffer): Promise<Buffer> {
    const { random, observer, now } = this.#options;
    const began = now();
    const plain = random.bytes(KEY_BYTES);
    let cipher: Buffer;
    try {
      cipher = await this.#inTurn(() => this.kms.encrypt(plain));
    } catch (error) {
      observer.keyGenerated(now() - began, false);
      throw error;
    }
    observer.keyGenerated(now() - began, true);
    const key = createSecretKey(plain);
    this.#keep(cipher.toString('latin1'), key);
    const length = Buffer.allocUnsafe(2);
    length.writeUInt16BE(cipher.length);
    return sealCbc(Buffer.concat([this.prefix, length, cipher]), key, value, random);
  }

  open(stored: Buffer): MaybePromise<Buffer | undefined> {
    const cipher = this.#cipherOf(stored);
    if (cipher === undefined) return undefined;
    const end = this.prefix.length + 2 + cipher.length;
    const cachedKey = this.#keys.get(cipher);
    if (cachedKey !== undefined) {
      this.#keep(cipher, cachedKey);
      return openCbc(stored, end, cachedKey);
    }
    this.#options.observer.cacheMiss();
    return this.#keyOf(cipher).then((key) => openCbc(stored, end, key));
  }

  distrust(stored: Buffer): void {
    const cipher = this.#cipherOf(stored);
    if (cipher !== undefined) this.#keys.delete(cipher);
  }

  /** The encrypted key of a stored value, as text; undefined when the bytes are not of that form. */
  #cipherOf(stored: Buffer): string | undefined {
    const at = this.prefix.length + 2;
    if (stored.length < at) return undefined;
    const length = stored.readUInt16BE(this.prefix.length);
    return length === 0 || length > LARGEST_CIPHER || stored.length < at + length ? undefined : stored.toString('latin1', at, at + length);
  }

  /** Several values under one key, or the same value twice, need one call. */
  #keyOf(cipher: string): Promise<KeyObject> {
    const under = this.#decrypting.get(cipher);
    if (under !== undefined) return under;
    const pendingKey = this.#inTurn(async () => {
      const plain = await this.kms.decrypt(Buffer.from(cipher, 'latin1'));
      if (![16, 24, KEY_BYTES].includes(plain.length))
        throw new ProviderUnavailable(`the KMS plug-in ${JSON.stringify(this.kms.name)} answered a key of ${plain.length} bytes`);
      const key = createSecretKey(plain);
      this.#keep(cipher, key);
      return key;
    }).finally(() => this.#decrypting.delete(cipher));
    this.#decrypting.set(cipher, pendingKey);
    return pendingKey;
  }

  #keep(cipher: string, key: KeyObject): void {
    const { cacheSize, observer } = this.#options;
    this.#keys.set(cipher, key);
    observer.cacheFill(this.#keys.size / cacheSize);
  }

  async #inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (this.#calls >= MOST_CALLS) {
      if (this.#queue.length >= MOST_WAITING)
        throw new ProviderUnavailable(`too many values wait for the KMS plug-in ${JSON.stringify(this.kms.name)}`);
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    } else this.#calls++;
    try {
      return await call();
    } finally {
      // The slot is passed on, so that no other call takes it.
      const next = this.#queue.shift();
      if (next === undefined) this.#calls--;
      else next();
    }
  }
}
