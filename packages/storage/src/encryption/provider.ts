/**
 * A provider encrypts and decrypts values under one key. Several make the list of a rule: the first writes, all read.
 *
 *   aescbc      IV (16 bytes), AES-CBC of the value with PKCS #7 padding
 *   aesgcm      nonce (12), AES-GCM of the value, tag (16); the object's place in the store is authenticated with it
 *   secretbox   nonce (24), tag (16), XSalsa20 of the value
 *   kms         envelope.ts
 *
 * These are the forms of a stock server. Those that do not authenticate the place are held to it by `belongs.ts`.
 */

import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa';
import type { Random } from '@plat-dev/lib/random';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { Identity } from '@plat-dev/meta/identity';
import { encryptedMark, type ProviderName, storedPrefix } from './stored-form.ts';

export interface Provider {
  readonly type: ProviderName;
  /** What values of this provider and key begin with; empty for identity. */
  readonly prefix: Buffer;
  /** Distinguishes this key from others of the same name, and is never shown. */
  readonly id: string;
  /** Rejects with ProviderUnavailable. */
  seal(value: Buffer, key: string): MaybePromise<Buffer>;
  /** Undefined when this is not the key. Rejects with ProviderUnavailable when that cannot be known now. */
  open(stored: Buffer, key: string): MaybePromise<Buffer | undefined>;
  /** Whether it is under the key that new values get, where that can be another while the name stays. Rejects with ProviderUnavailable. */
  isCurrent?(stored: Buffer): Promise<boolean>;
  /** What was opened is not what it must be: nothing that was kept for it is used again. */
  distrust?(stored: Buffer): void;
}

/** A provider in another process does not answer, or not as it must. The message is for the log and for clients. */
export class ProviderUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProviderUnavailable';
  }
}

/** Values as they are. */
export function identityProvider(identity: Identity): Provider {
  const mark = Buffer.from(encryptedMark(identity), 'latin1');
  return {
    type: 'identity',
    prefix: Buffer.alloc(0),
    id: 'identity',
    seal: (value) => value,
    open: (stored) => (startsWith(stored, mark) ? undefined : stored),
  };
}

export interface Key {
  readonly name: string;
  readonly secret: Buffer;
}
export type LocalProviderName = 'aescbc' | 'aesgcm' | 'secretbox';

/** Sizes of keys in bytes. */
export const keySizes: Readonly<Record<LocalProviderName, readonly number[]>> = {
  aescbc: [16, 24, 32],
  aesgcm: [16, 24, 32],
  secretbox: [32],
};

export function localProvider(type: LocalProviderName, { name, secret }: Key, identity: Identity, random: Random): Provider {
  const prefix = Buffer.from(storedPrefix(identity, type, name), 'latin1');
  const id = `${prefix.toString('latin1')}${createHash('sha256').update(secret).digest('base64')}`;
  return { type, prefix, id, ...makers[type](prefix, secret, random) };
}

type Maker = (prefix: Buffer, secret: Buffer, random: Random) => Pick<Provider, 'seal' | 'open'>;

const aescbc: Maker = (prefix, secret, random) => {
  const key = createSecretKey(secret);
  return {
    seal: (value) => sealCbc(prefix, key, value, random),
    open: (stored) => openCbc(stored, prefix.length, key),
  };
};

const IV = 16;
const cbcOf = (key: KeyObject): string => `aes-${(key.symmetricKeySize ?? 0) * 8}-cbc`;

/** `head`, then the initialization vector, then the value encrypted. */
export function sealCbc(head: Buffer, key: KeyObject, value: Buffer, random: Random): Buffer {
  const iv = random.bytes(IV);
  const cipher = createCipheriv(cbcOf(key), key, iv);
  return Buffer.concat([head, iv, cipher.update(value), cipher.final()]);
}
/** Undefined when the key is another, as far as that shows. */
export function openCbc(stored: Buffer, at: number, key: KeyObject): Buffer | undefined {
  const body = at + IV;
  if (stored.length <= body || (stored.length - body) % 16 !== 0) return undefined;
  const decipher = createDecipheriv(cbcOf(key), key, stored.subarray(at, body));
  try {
    return Buffer.concat([decipher.update(stored.subarray(body)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const GCM_NONCE = 12;
const GCM_TAG = 16;

const aesgcm: Maker = (prefix, secret, random) => {
  const key = createSecretKey(secret);
  const cipherName = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm';
  const body = prefix.length + GCM_NONCE;
  return {
    seal(value, place) {
      const nonce = random.bytes(GCM_NONCE);
      const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(place, 'latin1'));
      return Buffer.concat([prefix, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    open(stored, place) {
      const end = stored.length - GCM_TAG;
      if (end < body) return undefined;
      const decipher = createDecipheriv(cipherName, key, stored.subarray(prefix.length, body), { authTagLength: GCM_TAG });
      decipher.setAAD(Buffer.from(place, 'latin1')).setAuthTag(stored.subarray(end));
      try {
        return Buffer.concat([decipher.update(stored.subarray(body, end)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
};

const SECRETBOX_NONCE = 24;
const SECRETBOX_TAG = 16;

const secretbox: Maker = (prefix, secret, random) => {
  const body = prefix.length + SECRETBOX_NONCE;
  return {
    seal(value) {
      const nonce = random.bytes(SECRETBOX_NONCE);
      return Buffer.concat([prefix, nonce, xsalsa20poly1305(secret, nonce).encrypt(value)]);
    },
    open(stored) {
      if (stored.length < body + SECRETBOX_TAG) return undefined;
      const cipher = xsalsa20poly1305(secret, stored.subarray(prefix.length, body));
      try {
        const value = cipher.decrypt(stored.subarray(body));
        return Buffer.from(value.buffer, value.byteOffset, value.length);
      } catch {
        return undefined;
      }
    },
  };
};

const makers: Readonly<Record<LocalProviderName, Maker>> = { aescbc, aesgcm, secretbox };

export const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
