/**
 * Moments of the past on command lines:
 *
 *   10m, 2h30m, 3d          so long ago
 *   10:32, 10:32:05         the last time that clocks showed this
 *   2026-05-01T10:00:00Z    RFC 3339
 *   1234                    a version, where one is meant
 *   now
 */
import { FlagError } from '@plat-dev/lib/flags';
import { durationMillis, parseInstant } from '@plat-dev/lib/time';

export type Moment = { readonly version: number } | { readonly time: number } | 'now';

const DAY_MS = 24 * 3600 * 1000;
const forms = 'a time such as 10m (ago), 10:32 or 2026-05-01T10:00:00Z';

/** Throws FlagError. */
export function readMoment(flag: string, text: string, now: number): Moment {
  if (text === 'now') return 'now';
  if (/^\d{1,15}$/.test(text)) return { version: Number(text) };
  const time = timeOf(text, now);
  if (time === undefined) throw new FlagError(`--${flag} ${JSON.stringify(text)}: it must be a version, now, or ${forms}`);
  return { time };
}

/** Milliseconds since 1970; undefined for an empty text. Throws FlagError. */
export function readTime(flag: string, text: string, now: number): number | undefined {
  if (text === '') return undefined;
  const time = timeOf(text, now);
  if (time === undefined) throw new FlagError(`--${flag} ${JSON.stringify(text)}: it must be ${forms}`);
  return time;
}

function timeOf(text: string, now: number): number | undefined {
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  if (clock !== null) {
    const [hours = 0, minutes = 0, seconds = 0] = clock.slice(1).map((part) => Number(part ?? 0));
    const today = new Date(now).setHours(hours, minutes, seconds, 0);
    return today > now ? new Date(now - DAY_MS).setHours(hours, minutes, seconds, 0) : today;
  }
  try {
    const ago = /^(?:(\d{1,6})d)?((?:\d[\d.]*[a-zµ]+)*)$/.exec(text);
    if (ago !== null && text !== '') return now - Number(ago[1] ?? 0) * DAY_MS - (ago[2] ? durationMillis(ago[2]) : 0);
    const { seconds, nanos } = parseInstant(text);
    return seconds * 1000 + Math.floor(nanos / 1e6);
  } catch {
    return undefined;
  }
}

/** `10:32`, with the day unless it is today. */
export function clockText(time: number, now: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const moment = new Date(time);
  const text = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  if (moment.toDateString() === new Date(now).toDateString()) return text;
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())} ${text}`;
}
