/**
 * The one-time code of the link that a server prints when it is ready. It is made at the start, before anything else of the console is
 * loaded.
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';

const CODE_BYTES = 16;
export const CODE_MS = 5 * 60_000;

export interface OneTimeCode {
  readonly text: string;
  /** By the monotonic clock. */
  readonly expires: number;
}

export const newCode = (random: Random, clock: Clock): OneTimeCode => ({
  text: random.bytes(CODE_BYTES).toString('base64url'),
  expires: clock.monotonic() + CODE_MS,
});
