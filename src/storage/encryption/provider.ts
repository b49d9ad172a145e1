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
import { type Cipher, createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { GCM_NONCE, GCM_TAG, GcmSealer, LONGEST_MESSAGE, LONGEST_PLACE } from '../../lib/crypto/gcm.ts';
import { SECRETBOX_NONCE, SECRETBOX_TAG, SecretBox } from '../../lib/crypto/secretbox.ts';
import type { Random } from '../../lib/random.ts';
import type { Identity } from '../../meta/identity.ts';
import { encryptedMark, type ProviderName, storedPrefix } from './stored-form.ts';

export interface Provider {
  readonly type: ProviderName;
  /** What values of this provider and key begin with; empty for identity. */
  readonly prefix: Buffer;
  /** Distinguishes this key from others of the same name, and is never shown. */
  readonly id: string;
  /** Rejects with ProviderUnavailable. */
  seal(value: Buffer, key: string): Buffer | Promise<Buffer>;
  /** Undefined when this is not the key. Rejects with ProviderUnavailable when that cannot be known now. */
  open(stored: Buffer, key: string): Buffer | undefined | Promise<Buffer | undefined>;
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
  const chain = new CbcChain(key);
  const body = prefix.length + IV;
  return {
    seal(value) {
      const stored = Buffer.allocUnsafe(body + value.length + padding(value.length));
      prefix.copy(stored);
      const iv = stored.subarray(prefix.length, body);
      random.fill(iv);
      value.copy(stored, body);
      stored.fill(padding(value.length), body + value.length);
      chain.encrypt(stored.subarray(body), iv);
      return stored;
    },
    open: (stored) => openCbc(stored, prefix.length, key),
  };
};

const IV = 16;
/** PKCS #7: one to sixteen bytes that say how many they are. */
const padding = (length: number): number => IV - (length % IV);

/**
 * One cipher for all values under a key: making one costs more than what it does to a kilobyte. Its chain goes on from
 * message to message: each block is combined with the last encrypted one before. So that a message begins with its own
 * initialization vector instead, its first block is combined with both: the old link goes out again.
 */
class CbcChain {
  readonly #cipher: Cipher;
  readonly #last = Buffer.alloc(IV);

  constructor(key: KeyObject) {
    this.#cipher = createCipheriv(cbcOf(key), key, this.#last).setAutoPadding(false);
  }
  /** In place; whole blocks. */
  encrypt(message: Buffer, iv: Buffer): void {
    for (let i = 0; i < IV; i++) message[i] = (message[i] as number) ^ (iv[i] as number) ^ (this.#last[i] as number);
    this.#cipher.update(message).copy(message);
    message.copy(this.#last, 0, message.length - IV);
  }
}
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

const aesgcm: Maker = (prefix, secret, random) => {
  const key = createSecretKey(secret);
  const cipherName = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm';
  const head = prefix.length;
  /** Made with the first value: most keys only read. Null where assembled code cannot run. */
  let sealer: GcmSealer | null | undefined;
  return {
    seal(value, place) {
      const stored = Buffer.allocUnsafe(head + GCM_NONCE + value.length + GCM_TAG);
      prefix.copy(stored);
      const nonce = stored.subarray(head, head + GCM_NONCE);
      random.fill(nonce);
      if (value.length <= LONGEST_MESSAGE && place.length <= LONGEST_PLACE) {
        if (sealer === undefined) sealer = GcmSealer.of(secret) ?? null;
        if (sealer !== null) {
          sealer.seal(stored, head + GCM_NONCE, value, nonce, place);
          return stored;
        }
      }
      const cipher = createCipheriv(cipherName, key, nonce);
      cipher.setAAD(Buffer.from(place, 'latin1'));
      cipher.update(value).copy(stored, head + GCM_NONCE);
      cipher.final();
      cipher.getAuthTag().copy(stored, stored.length - GCM_TAG);
      return stored;
    },
    open(stored, place) {
      const body = head + GCM_NONCE;
      const end = stored.length - GCM_TAG;
      if (end < body) return undefined;
      const decipher = createDecipheriv(cipherName, key, stored.subarray(head, body), { authTagLength: GCM_TAG });
      decipher.setAAD(Buffer.from(place, 'latin1'));
      decipher.setAuthTag(stored.subarray(end));
      try {
        return Buffer.concat([decipher.update(stored.subarray(body, end)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
};

const secretbox: Maker = (prefix, secret, random) => {
  const box = new SecretBox(secret);
  const head = prefix.length;
  return {
    seal(value) {
      const stored = Buffer.allocUnsafe(head + SECRETBOX_NONCE + SECRETBOX_TAG + value.length);
      prefix.copy(stored, 0);
      const nonce = stored.subarray(head, head + SECRETBOX_NONCE);
      random.fill(nonce);
      box.sealInto(stored, head + SECRETBOX_NONCE, value, nonce);
      return stored;
    },
    open(stored) {
      const body = head + SECRETBOX_NONCE;
      return stored.length < body ? undefined : box.open(stored.subarray(body), stored.subarray(head, body));
    },
  };
};

const makers: Readonly<Record<LocalProviderName, Maker>> = { aescbc, aesgcm, secretbox };

export const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
