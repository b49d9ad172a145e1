/** The age of a time as shown in a Table: two units at most, coarser the older it is. */
import { timeMillis } from '@plat-dev/lib/time';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A larger and a smaller unit; the smaller is omitted when it is zero. */
function pair(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const remainder = Math.floor((seconds % large) / small);
  return remainder === 0
    ? `${Math.floor(seconds / large)}${largeName}`
    : `${Math.floor(seconds / large)}${largeName}${remainder}${smallName}`;
}

/** `5s`, `119s`, `3m20s`, `45m`, `5h10m`, `30h`, `2d5h`, `300d`, `3y40d`, `9y`. A clock skew of a second is tolerated. */
export function humanDuration(millis: number): string {
  const seconds = Math.trunc(millis / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return pair(seconds, minute, 'm', 1, 's');
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return pair(seconds, hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return pair(seconds, day, 'd', hour, 'h');
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return pair(seconds, year, 'y', day, 'd');
  return `${Math.floor(seconds / year)}y`;
}

/** The age of a time text at a moment (milliseconds since 1970); an unset time is `<unknown>`. */
export function ageAt(now: number, time: string | undefined): string {
  return time === undefined ? '<unknown>' : humanDuration(now - timeMillis(time));
}
