/** Encrypts and decrypts the values of one collection. */
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import type { Unreadable } from '../engine.ts';
import { isObjectOfKey } from './object-of-key.ts';
import { type Provider, ProviderUnavailable, startsWith } from './provider.ts';
import { describeForm, storedFormOf } from './stored-form.ts';

/** Called for every operation; `status` is `OK` or `Unknown`, as a stock server counts. */
export interface TransformObserver {
  transformed(direction: 'to_storage' | 'from_storage', provider: Provider | undefined, ok: boolean, millis: number): void;
}

/** Why a value cannot be read; `retry` if a later try may succeed without a change of the configuration. */
export interface Refused extends Unreadable {
  readonly retry: boolean;
}
export type Opened = Buffer | Refused;

export const isRefused = (opened: Opened): opened is Refused => !Buffer.isBuffer(opened);

export class Transformer {
  /** `core/secrets/` */
  readonly collection: string;
  /** The first writes, all read. */
  readonly providers: readonly Provider[];
  readonly #observer: TransformObserver;
  readonly #now: () => number;

  constructor(collection: string, providers: readonly Provider[], observer: TransformObserver, now: () => number) {
    this.collection = collection;
    this.providers = providers;
    this.#observer = observer;
    this.#now = now;
  }

  /** Throws or rejects with ProviderUnavailable. */
  seal(value: Buffer, key: string): MaybePromise<Buffer> {
    const first = this.providers[0] as Provider;
    if (first.type === 'identity') return value;
    const began = this.#now();
    const sealed = first.seal(value, key);
    if (!isPending(sealed)) {
      this.#observer.transformed('to_storage', first, true, this.#now() - began);
      return sealed;
    }
    return sealed.then(
      (sealedBytes) => {
        this.#observer.transformed('to_storage', first, true, this.#now() - began);
        return sealedBytes;
      },
      (error: unknown) => {
        this.#observer.transformed('to_storage', first, false, this.#now() - began);
        throw error;
      },
    );
  }

  /** Whether a stored value is encrypted with the current provider and key: another key may have the same name. */
  async isCurrent(stored: Buffer, key: string): Promise<boolean> {
    const first = this.providers[0] as Provider;
    if (first.type === 'identity') return storedFormOf(stored) === undefined;
    if (!startsWith(stored, first.prefix)) return false;
    if ((await first.isCurrent?.(stored)) === false) return false;
    const plain = await first.open(stored, key);
    return plain !== undefined && isObjectOfKey(plain, key, this.collection);
  }

  open(stored: Buffer, key: string): MaybePromise<Opened> {
    return this.#try(stored, key, 0, this.#now());
  }

  /** Tries the providers in order, from one on; the first that decrypts the value to the object of its key wins. */
  #try(stored: Buffer, key: string, from: number, began: number): MaybePromise<Opened> {
    for (let i = from; i < this.providers.length; i++) {
      const provider = this.providers[i] as Provider;
      if (!startsWith(stored, provider.prefix)) continue;
      const openedValue = provider.open(stored, key);
      if (isPending(openedValue)) {
        return openedValue.then(
          (plain) => this.#accept(provider, stored, plain, key, began) ?? this.#try(stored, key, i + 1, began),
          (error: unknown) => this.#unavailable(provider, error, began),
        );
      }
      const accepted = this.#accept(provider, stored, openedValue, key, began);
      if (accepted !== undefined) return accepted;
    }
    return this.#refuse(stored, key, began);
  }

  #accept(provider: Provider, stored: Buffer, plain: Buffer | undefined, key: string, began: number): Buffer | undefined {
    if (provider.type === 'identity') return plain;
    if (plain === undefined || !isObjectOfKey(plain, key, this.collection)) {
      provider.distrust?.(stored);
      return undefined;
    }
    this.#observer.transformed('from_storage', provider, true, this.#now() - began);
    return plain;
  }

  #unavailable(provider: Provider, error: unknown, began: number): Refused {
    this.#observer.transformed('from_storage', provider, false, this.#now() - began);
    const why = error instanceof ProviderUnavailable ? error.message : 'the provider failed';
    return { reason: `it is encrypted, and ${why}`, retry: true };
  }

  #refuse(stored: Buffer, key: string, began: number): Refused {
    const namedProvider = this.providers.find(({ type, prefix }) => type !== 'identity' && startsWith(stored, prefix));
    this.#observer.transformed('from_storage', namedProvider, false, this.#now() - began);
    const resource = key.slice(0, this.collection.length - 1);
    const form = storedFormOf(stored);
    if (form === undefined)
      return { reason: `it is not encrypted, and the encryption configuration does not list identity for ${resource}`, retry: false };
    const why =
      namedProvider === undefined
        ? `no matching key: the encryption configuration has none of that provider and name for ${resource}; put the key back to read the object again`
        : 'no matching key: the one of that name in the encryption configuration does not decrypt it, or it is not the value of this object';
    return { reason: `${describeForm(form)}; ${why}`, retry: false };
  }
}
