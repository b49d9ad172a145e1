/**
 * The times of a schedule: five fields (`0 3 * * 1-5`), a macro (`@daily`) or an interval (`@every 1h30m`). A time of five fields is
 * an instant whose clock in the time zone of the schedule shows what the fields ask for. So a time that is skipped when clocks go
 * forward does not come, and one that is repeated when they go back comes twice:
 *
 *   30 2 * * *   in Europe/Berlin, after 2024-03-30T02:30+01:00   → 2024-04-01T02:30+02:00
 *   30 2 * * *   in Europe/Berlin, after 2024-10-27T02:30+02:00   → 2024-10-27T02:30+01:00
 *
 * Where neither day field is `*` a day matches if one of them does. The text has been validated (`kinds/batch/schedule.ts`).
 */

import { scheduleProblem } from '@plat-dev/kinds/batch/schedule';
import { own } from '@plat-dev/lib/own';
import { TextCache } from '@plat-dev/lib/text-cache';
import { durationMillis } from '@plat-dev/meta/time';

export interface Schedule {
  /** The first time after an instant, both in milliseconds; undefined if there is none within five years. */
  next(after: number): number | undefined;
  /** Of an interval: its milliseconds. The times follow one another from a start, and not by the clock. */
  readonly period?: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const YEARS = 5;

interface Field {
  /** Whether each value matches. */
  readonly values: readonly boolean[];
  readonly isAny: boolean;
}

/** The lowest and highest value of a field, and the names of its values. */
type Limits = readonly [number, number, (readonly string[])?];

const limits: readonly Limits[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12, ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']],
  [0, 6, ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']],
];
const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Throws with what is wrong with a text. The zone is that of the text, or else the given one; without any it is UTC. */
export function parseSchedule(text: string, timeZone?: string): Schedule {
  const problem = scheduleProblem(text);
  if (problem !== undefined) throw new Error(problem);
  const prefix = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(text);
  const rest = (prefix?.[2] ?? text).trim();
  if (rest.startsWith('@every ')) return every(durationMillis(rest.slice('@every '.length)));
  const parts = (own(macros, rest) ?? rest).split(/\s+/);
  const fields = parts.map((part, i) => parseField(part, limits[i] as Limits));
  return new Fields(fields as [Field, Field, Field, Field, Field], zoneOf(prefix?.[1] ?? timeZone));
}

/** Whole seconds, at least one. */
function every(millis: number): Schedule {
  const period = Math.max(Math.floor(millis / 1000) * 1000, 1000);
  return { period, next: (after) => Math.floor(after / 1000) * 1000 + period };
}

function parseField(text: string, [min, max, names]: Limits): Field {
  const values: boolean[] = new Array(max + 1).fill(false);
  let isAny = false;
  const value = (word: string): number => {
    const nameIndex = names?.indexOf(word.toLowerCase()) ?? -1;
    return nameIndex >= 0 ? nameIndex : Number(word);
  };
  for (const part of text.split(',')) {
    if (part === '') continue;
    const [range = '', stepText] = part.split('/');
    const [low = '', high] = range.split('-');
    const step = stepText === undefined ? 1 : Number(stepText);
    const any = low === '*' || low === '?';
    const first = any ? min : value(low);
    const last = any ? max : high !== undefined ? value(high) : stepText === undefined ? first : max;
    if (any && step === 1) isAny = true;
    for (let i = first; i <= last; i += step) values[i] = true;
  }
  return { values, isAny };
}
const has = (field: Field, value: number): boolean => field.values[value] === true;

/** What the clocks of a zone show, as if it were UTC: milliseconds of the local time. */
type Zone = (at: number) => number;

/** Formats of time zones that are kept; making one takes long. */
const zones = new TextCache<Zone>(64, 64);
const utc: Zone = (at) => at;

function zoneOf(name: string | undefined): Zone {
  return name === undefined || name === '' || name === 'UTC' || name === 'Local' ? utc : zones.get(name, makeZone);
}
function makeZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
}

class Fields implements Schedule {
  private readonly fields: readonly [Field, Field, Field, Field, Field];
  private readonly zone: Zone;

  constructor(fields: readonly [Field, Field, Field, Field, Field], zone: Zone) {
    this.fields = fields;
    this.zone = zone;
  }
  next(after: number): number | undefined {
    const [minutes, hours] = this.fields;
    let at = (Math.floor(after / MINUTE) + 1) * MINUTE;
    const lastYear = new Date(at).getUTCFullYear() + YEARS;
    for (;;) {
      const local = new Date(this.zone(at));
      if (local.getUTCFullYear() > lastYear) return undefined;
      if (!this.matchesDay(local)) {
        const day = this.nextDay(local, lastYear);
        if (day === undefined) return undefined;
        // The last step is from the day before, by what the clocks show then.
        at = this.startOf(day - local.getTime() > 2 * DAY ? day - DAY : day, at);
      } else if (!has(hours, local.getUTCHours())) at += (60 - local.getUTCMinutes()) * MINUTE;
      else {
        let minute = local.getUTCMinutes();
        while (minute < 60 && !has(minutes, minute)) minute++;
        if (minute === local.getUTCMinutes()) return at;
        at += (minute - local.getUTCMinutes()) * MINUTE;
      }
    }
  }
  /** The next day of the calendar that matches. */
  private nextDay(local: Date, lastYear: number): number | undefined {
    const months = this.fields[3];
    const day = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + 1));
    while (!this.matchesDay(day)) {
      if (has(months, day.getUTCMonth() + 1)) day.setUTCDate(day.getUTCDate() + 1);
      else day.setUTCMonth(day.getUTCMonth() + 1, 1);
      if (day.getUTCFullYear() > lastYear) return undefined;
    }
    return day.getTime();
  }
  private matchesDay(local: Date): boolean {
    const [, , days, months, weekdays] = this.fields;
    if (!has(months, local.getUTCMonth() + 1)) return false;
    const day = has(days, local.getUTCDate());
    const weekday = has(weekdays, local.getUTCDay());
    return days.isAny || weekdays.isAny ? day && weekday : day || weekday;
  }
  /** The first instant after `at` at which clocks show a local time or a later one. */
  private startOf(local: number, at: number): number {
    const first = local - (this.zone(at) - at);
    const second = local - (this.zone(first) - first);
    const startTime = this.zone(second) >= local ? second : first;
    return Math.max(startTime, at + MINUTE);
  }
}

/**
 * The last time of a schedule after `from` up to `now`, and how many there were. More than `limit` are estimated from the distance
 * of the first two. Windows that end now are searched, each twice as long as the one before: most schedules have a time not long
 * ago.
 */
export function lastTime(schedule: Schedule, from: number, now: number, limit: number): { time?: number; missed: number } {
  const { period } = schedule;
  if (period !== undefined) {
    const start = Math.floor(from / 1000) * 1000;
    const missed = Math.max(Math.floor((now - start) / period), 0);
    return missed === 0 ? { missed } : { time: start + missed * period, missed };
  }
  const first = schedule.next(from);
  if (first === undefined || first > now) return { missed: 0 };
  let missed = 1;
  let at = schedule.next(first);
  const second = at;
  for (; at !== undefined && at <= now && missed <= limit; at = schedule.next(at)) missed++;
  if (missed > limit && second !== undefined) missed = Math.max(missed, Math.floor((now - first) / (second - first)) + 1);
  for (let window = MINUTE; ; window *= 2) {
    let time: number | undefined;
    for (at = schedule.next(Math.max(now - window, from)); at !== undefined && at <= now; at = schedule.next(at)) time = at;
    if (time !== undefined) return { time, missed };
  }
}
