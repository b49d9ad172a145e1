/**
 * A KMS plug-in as this server sees it: it encrypts and decrypts the keys of values. It runs in another process, may be
 * slow, gone or wrong, and must then cost no request more than its timeout:
 *
 *   working   calls go to the plug-in                                            a call fails → resting
 *   resting   calls fail at once, for a second                                   then → trying
 *   trying    the next call tests the plug-in first, by a round trip             passed → working, failed → resting
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { ProviderUnavailable } from './provider.ts';

/** The three calls of the protocol. Each ends within the timeout. */
export interface KmsTransport {
  version(): Promise<string>;
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
  /** Of the key that the plug-in encrypts with now; in version v2. */
  keyId?(): Promise<string>;
  close(): void;
}

export const KMS_VERSION = 'v1beta1';
/** What plug-ins of version v2 say of themselves. */
export const KMS_V2_VERSIONS: readonly string[] = ['v2', 'v2beta1'];
/** How long calls fail at once after one has failed. */
export const REST_MS = 1000;
/** How long the result of a health check is cached, as in a stock server. */
export const HEALTHY_MS = 20_000;
export const UNHEALTHY_MS = 3000;
/** The stored form has a length of two bytes for the encrypted key, which is no larger than this. */
export const LARGEST_CIPHER = 16 * 1024;
const PROOF_BYTES = 32;

/** Called when a plug-in fails, with the reason, and when it works again, without one. */
export type KmsObserver = (error: string | undefined) => void;

export class Kms {
  readonly name: string;
  readonly #observer: KmsObserver;
  #works = true;
  readonly #transport: KmsTransport;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #versions: readonly string[];
  #proved: Promise<void> | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;
  #why = '';
  #health: { readonly until: number; readonly outcome: Promise<void> } | undefined;

  constructor(
    name: string,
    transport: KmsTransport,
    clock: Clock,
    random: Random,
    observer: KmsObserver = () => {},
    versions = [KMS_VERSION] as readonly string[],
  ) {
    this.name = name;
    this.#observer = observer;
    this.#transport = transport;
    this.#clock = clock;
    this.#random = random;
    this.#versions = versions;
  }

  /** Rejects with ProviderUnavailable, within three timeouts. */
  async encrypt(plain: Buffer): Promise<Buffer> {
    await this.#ready();
    return this.#guarded('encrypt', () => this.#encrypt(plain));
  }
  async decrypt(cipher: Buffer): Promise<Buffer> {
    await this.#ready();
    return this.#guarded('decrypt', () => this.#transport.decrypt(cipher));
  }

  /** Of the key that the plug-in encrypts with now. */
  async keyId(): Promise<string> {
    await this.#ready();
    return this.#guarded('name its key', async () => (await this.#transport.keyId?.()) ?? '');
  }

  /** A round trip, or the result of a recent one. */
  check(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#health !== undefined && now < this.#health.until) return this.#health.outcome;
    const outcome = this.#prove();
    outcome.then(
      () => this.#believe(outcome, HEALTHY_MS),
      () => this.#believe(outcome, UNHEALTHY_MS),
    );
    // Concurrent callers wait for the same result.
    this.#health = { until: Number.POSITIVE_INFINITY, outcome };
    return outcome;
  }
  #believe(outcome: Promise<void>, millis: number): void {
    this.#health = { until: this.#clock.monotonic() + millis, outcome };
  }

  /** A round trip of its own, which only the observer notices: requests find out by themselves. */
  probe(): Promise<void> {
    return this.#observed(() => this.#roundTrip((_, call) => call()));
  }

  close(): void {
    this.#transport.close();
  }

  #ready(): Promise<void> {
    if (this.#clock.monotonic() < this.#restUntil) return Promise.reject(new ProviderUnavailable(this.#why));
    this.#proved ??= this.#prove();
    return this.#proved;
  }

  /** A plug-in that cannot decrypt what it encrypts would lose everything that is written. */
  #prove(): Promise<void> {
    return this.#observed(() => this.#roundTrip((what, call) => this.#guarded(what, call)));
  }

  /** An outage is reported once, and its end. */
  async #observed(proof: () => Promise<void>): Promise<void> {
    try {
      await proof();
    } catch (error) {
      if (this.#works) this.#observer((error as Error).message);
      this.#works = false;
      throw error;
    }
    if (!this.#works) this.#observer(undefined);
    this.#works = true;
  }

  async #roundTrip(step: (what: string, call: () => Promise<void>) => Promise<void>): Promise<void> {
    await step('report its version', async () => {
      const version = await this.#transport.version();
      if (!this.#versions.includes(version))
        throw new Error(`it speaks version ${JSON.stringify(version.slice(0, 32))}, not ${this.#versions[0]}`);
    });
    const sample = this.#random.bytes(PROOF_BYTES);
    await step('decrypt what it encrypted', async () => {
      const back = await this.#transport.decrypt(await this.#encrypt(sample));
      if (!back.equals(sample)) throw new Error('the answer is another value');
    });
  }

  async #encrypt(plain: Buffer): Promise<Buffer> {
    const cipher = await this.#transport.encrypt(plain);
    if (cipher.length === 0) throw new Error('the answer is empty');
    if (cipher.length > LARGEST_CIPHER) throw new Error(`the answer has ${cipher.length} bytes; ${LARGEST_CIPHER} are the most`);
    if (cipher.includes(plain)) throw new Error('the answer holds the key itself');
    return cipher;
  }

  async #guarded<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.#why = `the KMS plug-in ${JSON.stringify(this.name)} could not ${what}: ${(error as Error).message}`;
      this.#restUntil = this.#clock.monotonic() + REST_MS;
      this.#proved = undefined;
      // The previous result is no longer valid; a check in progress finds out by itself.
      if (this.#health?.until !== Number.POSITIVE_INFINITY) this.#health = undefined;
      throw new ProviderUnavailable(this.#why);
    }
  }
}
