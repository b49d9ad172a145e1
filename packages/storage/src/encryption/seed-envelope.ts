/**
 * Envelope encryption, as the kms provider of a stock server in version v2: the plug-in encrypts one seed, from which every write derives a
 * key of its own. Writes need the plug-in once a minute, to learn whether its key is another; then there is a new seed.
 *
 *   k8s:enc:kms:v2:vault:   a message { value = 1, id of the plug-in's key = 2, encrypted seed = 3, notes of the plug-in = 4, 1 = 5 }
 *
 * The value is: information (32 bytes), nonce (12), AES-GCM of the value, tag (16). Its key is HKDF-Expand of the seed by SHA-256 with the
 * information. The object's place in the store is authenticated with it.
 */
import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto';
import { type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { Reader, Writer } from '../engines/etcd/wire.ts';
import type { Kms } from './kms.ts';
import { type EnvelopeOptions, type PluginKey, PluginKeys } from './plugin-keys.ts';
import type { Provider } from './provider.ts';

/** How often the plug-in is asked which key it has. */
export const STATUS_MS = 60_000;
/** How long a seed is used for writes though the plug-in does not answer, as in a stock server. */
export const TRUSTED_MS = 3 * 60_000;
const INFORMATION = 32;
const NONCE = 12;
const TAG = 16;
const FROM_SEED = 1;
const CIPHER = 'aes-256-gcm';

const keyFrom = (seed: KeyObject, information: Buffer): Buffer =>
  createHmac('sha256', seed).update(information).update(Buffer.of(1)).digest();

interface Seed extends PluginKey {
  /** Of the key of the plug-in that encrypted it. */
  readonly keyId: string;
}
interface StoredMessage {
  readonly value: Buffer;
  /** The encrypted seed with what belongs to it, as the transport made it. */
  readonly cipher: string;
}

export class SeedEnvelope implements Provider {
  readonly type = 'kms';
  readonly prefix: Buffer;
  readonly id: string;
  readonly kms: Kms;
  readonly #options: EnvelopeOptions;
  readonly #keys: PluginKeys;
  #seed: Seed | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<Seed> | undefined;

  constructor(options: EnvelopeOptions) {
    this.#options = options;
    this.prefix = options.prefix;
    this.id = options.id;
    this.kms = options.kms;
    this.#keys = new PluginKeys(options);
  }

  seal(value: Buffer, place: string): MaybePromise<Buffer> {
    return whenReady(this.#currentSeed(), ({ cipher, key }) => {
      const { random } = this.#options;
      const information = random.bytes(INFORMATION);
      const nonce = random.bytes(NONCE);
      const sealing = createCipheriv(CIPHER, keyFrom(key, information), nonce).setAAD(Buffer.from(place, 'latin1'));
      const sealed = Buffer.concat([information, nonce, sealing.update(value), sealing.final(), sealing.getAuthTag()]);
      // Fields are written from the last to the first.
      const message = new Writer(sealed.length + cipher.length + 32);
      message.number(5, FROM_SEED);
      message.raw(Buffer.from(cipher, 'latin1'));
      message.bytes(1, sealed);
      return Buffer.concat([this.prefix, message.finish()]);
    });
  }

  open(stored: Buffer, place: string): MaybePromise<Buffer | undefined> {
    const message = readMessage(stored.subarray(this.prefix.length));
    if (message === undefined || message.value.length < INFORMATION + NONCE + TAG) return undefined;
    return whenReady(this.#keys.keyOf(message.cipher), (seed) => opened(message.value, seed, place));
  }

  async isCurrent(stored: Buffer): Promise<boolean> {
    const message = readMessage(stored.subarray(this.prefix.length));
    return message !== undefined && keyIdOf(message.cipher) === (await this.#currentSeed()).keyId;
  }

  distrust(stored: Buffer): void {
    const message = readMessage(stored.subarray(this.prefix.length));
    if (message !== undefined && message.cipher !== this.#seed?.cipher) this.#keys.forget(message.cipher);
  }

  #currentSeed(): MaybePromise<Seed> {
    const age = this.#options.now() - this.#checkedAt;
    if (this.#seed !== undefined && age < STATUS_MS) return this.#seed;
    this.#checking ??= this.#check(age).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }
  /** `age`: of what is known of the plug-in. */
  async #check(age: number): Promise<Seed> {
    try {
      const keyId = await this.kms.keyId();
      if (this.#seed === undefined || this.#seed.keyId !== keyId) {
        const generated = await this.#keys.generate();
        this.#seed = { ...generated, keyId: keyIdOf(generated.cipher) };
      }
      this.#checkedAt = this.#options.now();
    } catch (error) {
      if (this.#seed === undefined || age >= TRUSTED_MS) throw error;
    }
    return this.#seed;
  }
}

function opened(value: Buffer, seed: KeyObject, place: string): Buffer | undefined {
  const information = value.subarray(0, INFORMATION);
  const body = INFORMATION + NONCE;
  const decipher = createDecipheriv(CIPHER, keyFrom(seed, information), value.subarray(INFORMATION, body), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(place, 'latin1')).setAuthTag(value.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(value.subarray(body, -TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Undefined where it is no such message, or its value is encrypted in another way. */
function readMessage(bytes: Buffer): StoredMessage | undefined {
  try {
    const reader = new Reader(bytes);
    let value: Buffer | undefined;
    let way = 0;
    const seed: SeedFields = { keyId: '', cipher: Buffer.alloc(0), notes: [] };
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) value = reader.bytes();
      else if (field === 5) way = reader.number();
      else if (!readSeedField(seed, field, reader)) reader.skip();
    }
    return value === undefined || way !== FROM_SEED ? undefined : { value, cipher: writeSeed(seed).toString('latin1') };
  } catch {
    return undefined;
  }
}

/** An encrypted seed, and what a plug-in wants to see again with it. */
export interface SeedFields {
  keyId: string;
  cipher: Buffer;
  /** Entries of a map, as they came. */
  readonly notes: Buffer[];
}
function readSeedField(seed: SeedFields, field: number, reader: Reader): boolean {
  if (field === 2) seed.keyId = reader.text();
  else if (field === 3) seed.cipher = reader.bytes();
  else if (field === 4) seed.notes.push(reader.bytes());
  else return false;
  return true;
}
/** The fields 2, 3 and 4 of a stored message. */
export function writeSeed({ keyId, cipher, notes }: SeedFields): Buffer {
  const writer = new Writer(64 + cipher.length);
  for (const note of notes.toReversed()) writer.bytes(4, note);
  writer.bytes(3, cipher);
  writer.bytes(2, Buffer.from(keyId));
  return writer.finish();
}
export function readSeed(bytes: Buffer): SeedFields {
  const reader = new Reader(bytes);
  const seed: SeedFields = { keyId: '', cipher: Buffer.alloc(0), notes: [] };
  for (let field = reader.next(); field !== 0; field = reader.next()) if (!readSeedField(seed, field, reader)) reader.skip();
  return seed;
}
const keyIdOf = (cipher: string): string => readSeed(Buffer.from(cipher, 'latin1')).keyId;
