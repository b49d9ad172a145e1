/** Times and spans of time as text. */
import { parseDuration, parseInstant, TimeError } from '@plat-dev/lib/time';
import { ERROR_UNITS, type Frame } from '../budget.ts';
import { Failure } from '../errors.ts';
import { Duration, type Timestamp } from '../values.ts';
import { checkedTimestamp } from './time-range.ts';

const BILLION = 1_000_000_000n;
/** Longer texts are no times: so the work of reading one is bounded. */
const MAX_LENGTH = 100;

function readAs<T>(frame: Frame, what: string, text: string, read: () => T): T {
  frame.spend(TIME_UNITS);
  if (text.length > MAX_LENGTH) throw new Failure(`the text is no ${what}: it is too long`);
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    frame.spend(ERROR_UNITS);
    throw new Failure(error.message);
  }
}

/** Units of reading a time or a span of time. */
const TIME_UNITS = 60;

/** A field of format date or date-time: a date alone is the beginning of that day. Throws Failure. */
export function readDateOrTime(frame: Frame, text: string): Timestamp {
  return readTimestamp(frame, /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
}
/** RFC 3339. Throws Failure. */
export function readTimestamp(frame: Frame, text: string): Timestamp {
  return readAs(frame, 'timestamp', text, () => {
    const { seconds, nanos } = parseInstant(text);
    return checkedTimestamp(BigInt(seconds) * BILLION + BigInt(nanos));
  });
}
/** `1h30m`. Throws Failure. */
export function readDuration(frame: Frame, text: string): Duration {
  return readAs(frame, 'duration', text, () => new Duration(parseDuration(text)));
}

export function timestampText({ nanos }: Timestamp): string {
  const rest = ((nanos % BILLION) + BILLION) % BILLION;
  const seconds = new Date(Number((nanos - rest) / BILLION) * 1000).toISOString().slice(0, 19);
  return `${seconds}${fraction(rest)}Z`;
}
/** In seconds: `5400s`, `1.5s`. */
export function durationText({ nanos }: Duration): string {
  const amount = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${amount / BILLION}${fraction(amount % BILLION)}s`;
}
const fraction = (nanos: bigint): string => (nanos === 0n ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`);
