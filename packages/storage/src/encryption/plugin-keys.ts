/**
 * Keys that a KMS plug-in encrypts: made, decrypted and cached, so that most reads need no plug-in. Calls of it are bounded, and so is what
 * waits for them.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Random } from '@plat-dev/lib/random';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { Kms } from './kms.ts';
import { ProviderUnavailable } from './provider.ts';

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

export interface PluginKey {
  /** The key as the plug-in encrypted it, as text of single bytes. */
  readonly cipher: string;
  readonly key: KeyObject;
}

export class PluginKeys {
  readonly #kms: Kms;
  readonly #options: Pick<EnvelopeOptions, 'cacheSize' | 'random' | 'observer' | 'now'>;
  /** Encrypted key → key, the least recently used first. */
  readonly #keys: BoundedCache<string, KeyObject>;
  readonly #decrypting = new Map<string, Promise<KeyObject>>();
  readonly #queue: (() => void)[] = [];
  #calls = 0;

  constructor(options: EnvelopeOptions) {
    this.#kms = options.kms;
    this.#options = options;
    this.#keys = new BoundedCache(options.cacheSize);
  }

  /** A new key. Rejects with ProviderUnavailable. */
  async generate(): Promise<PluginKey> {
    const { random, observer, now } = this.#options;
    const began = now();
    const plain = random.bytes(KEY_BYTES);
    let cipher: string;
    try {
      cipher = (await this.#inTurn(() => this.#kms.encrypt(plain))).toString('latin1');
    } catch (error) {
      observer.keyGenerated(now() - began, false);
      throw error;
    }
    observer.keyGenerated(now() - began, true);
    const key = createSecretKey(plain);
    this.#keep(cipher, key);
    return { cipher, key };
  }

  /** At once if it is cached. Rejects with ProviderUnavailable. */
  keyOf(cipher: string): MaybePromise<KeyObject> {
    const cachedKey = this.#keys.get(cipher);
    if (cachedKey === undefined) {
      this.#options.observer.cacheMiss();
      return this.#decrypted(cipher);
    }
    this.#keep(cipher, cachedKey);
    return cachedKey;
  }
  forget(cipher: string): void {
    this.#keys.delete(cipher);
  }

  /** Several values under one key, or the same value twice, need one call. */
  #decrypted(cipher: string): Promise<KeyObject> {
    const under = this.#decrypting.get(cipher);
    if (under !== undefined) return under;
    const pendingKey = this.#inTurn(async () => {
      const plain = await this.#kms.decrypt(Buffer.from(cipher, 'latin1'));
      if (![16, 24, KEY_BYTES].includes(plain.length))
        throw new ProviderUnavailable(`the KMS plug-in ${JSON.stringify(this.#kms.name)} answered a key of ${plain.length} bytes`);
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
        throw new ProviderUnavailable(`too many values wait for the KMS plug-in ${JSON.stringify(this.#kms.name)}`);
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
