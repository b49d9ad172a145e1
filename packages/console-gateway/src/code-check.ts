/** Checks one-time codes: each is used once, within its time, and wrong tries are limited. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@plat-dev/lib/clock';
import { tooManyRequests, unauthorized } from '@plat-dev/meta/errors';
import type { OneTimeCode } from './code.ts';

/** Wrong tries in a minute, of one address and of all; further ones are refused, even with the right code. */
export const WRONG_TRIES = 10;
export const ALL_WRONG_TRIES = 100;
const WINDOW_MS = 60_000;

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export class CodeCheck {
  private readonly clock: Clock;
  /** Undefined once it is used. */
  private code: OneTimeCode | undefined;
  /** The last wrong tries, at most as many as are allowed in all. */
  private wrongTries: { readonly address: string; readonly at: number }[] = [];

  constructor(code: OneTimeCode | undefined, clock: Clock) {
    this.code = code;
    this.clock = clock;
  }

  /** Uses the code up. Throws 401 or 429. */
  use(text: string, address: string): void {
    const now = this.clock.monotonic();
    this.wrongTries = this.wrongTries.filter(({ at }) => now - at < WINDOW_MS);
    const own = this.wrongTries.filter((wrongTry) => wrongTry.address === address).length;
    if (own >= WRONG_TRIES || this.wrongTries.length >= ALL_WRONG_TRIES)
      throw tooManyRequests('too many wrong codes: try again in a minute', WINDOW_MS / 1000);
    const { code } = this;
    // Hashes have the same length, whatever was sent.
    const isRight = code !== undefined && timingSafeEqual(hashOf(text), hashOf(code.text));
    if (!isRight) {
      this.wrongTries.push({ address, at: now });
      throw unauthorized('the code of this link is wrong or was used before: restart the server for another, or log in by another way');
    }
    this.code = undefined;
    if (now >= code.expires)
      throw unauthorized('the code of this link has expired: restart the server for another, or log in by another way');
  }
}
