/** Parts of times, in any time zone, and of spans of time. */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { toInteger } from '@plat-dev/lib/integers';
import type { Frame } from '../budget.ts';
import { Failure, fail } from '../errors.ts';
import { DURATION, INT, STRING, TIMESTAMP } from '../types.ts';
import type { Duration, Timestamp } from '../values.ts';
import { member, type Overload } from './signature.ts';

const MILLION = 1_000_000n;

/** Milliseconds since 1970, rounded down. */
const millisOf = ({ nanos }: Timestamp): number => Number((nanos - (((nanos % MILLION) + MILLION) % MILLION)) / MILLION);

/** Most time zones whose rules are kept at hand. */
const KEPT_ZONES = 64;
/** Units of finding the rules of a time zone, and of asking them for an offset. */
const ZONE_UNITS = 10_000;
const OFFSET_UNITS = 800;
/** Units of finding a part of a time. */
const PART_UNITS = 10;
const zones = new BoundedCache<string, Intl.DateTimeFormat>(KEPT_ZONES);

function zoneOf(frame: Frame, name: string): Intl.DateTimeFormat {
  const cachedZone = zones.get(name);
  if (cachedZone !== undefined) return cachedZone;
  frame.spend(ZONE_UNITS);
  if (name.length > 64) fail('unknown time zone');
  try {
    const newZone = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' });
    zones.set(name, newZone);
    return newZone;
  } catch {
    throw new Failure(`unknown time zone ${name}`);
  }
}

/** Milliseconds that a time zone is ahead of UTC at a time. A zone is a name, `UTC`, or an offset such as `-01:30`. */
function offsetOf(frame: Frame, zone: string, millis: number): number {
  if (zone === '' || zone === 'UTC') return 0;
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) return offset(fixed[1] as string, fixed[2] as string, fixed[3] as string);
  frame.spend(OFFSET_UNITS);
  const parts = zoneOf(frame, zone).formatToParts(millis);
  const offsetMatch = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '');
  return offsetMatch === null ? 0 : offset(offsetMatch[1] as string, offsetMatch[2] as string, offsetMatch[3] as string, offsetMatch[4]);
}
const offset = (sign: string, hours: string, minutes: string, seconds = '0'): number =>
  (sign === '-' ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;

const DAY = 86_400_000;
const startOfYear = (date: Date): number => new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
/** What is asked of the date, which is shifted so that its UTC parts are those of the zone. */
const dateParts: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - startOfYear(date)) / DAY),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};
const durationUnits: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

export const timeFunctions: readonly Overload[] = [
  ...Object.entries(dateParts).flatMap(([name, part]) => [
    member(name, [TIMESTAMP], INT, (frame, time: Timestamp) => {
      frame.spend(PART_UNITS);
      return part(new Date(millisOf(time)));
    }),
    member(name, [TIMESTAMP, STRING], INT, (frame, time: Timestamp, zone: string) => {
      frame.spend(PART_UNITS);
      const millis = millisOf(time);
      return part(new Date(millis + offsetOf(frame, zone, millis)));
    }),
  ]),
  ...Object.entries(durationUnits).map(([name, unit]) =>
    member(name, [DURATION], INT, (_, { nanos }: Duration) => toInteger(nanos / unit)),
  ),
  // Of a span, the part that is less than a second.
  member('getMilliseconds', [DURATION], INT, (_, { nanos }: Duration) => Number((nanos / MILLION) % 1000n)),
];
