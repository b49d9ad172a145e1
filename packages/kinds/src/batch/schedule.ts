/**
 * The schedule of a cron job: five fields (`0 3 * * 1-5`), a macro (`@daily`) or an interval (`@every 1h30m`), with an optional
 * time zone in front (`TZ=Europe/Berlin 0 3 * * *`).
 */
import { TextCache } from '@plat-dev/lib/text-cache';
import { parseDuration } from '@plat-dev/meta/time';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}
const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const words = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/** Longest schedule. One that names every minute, hour, day and month is a tenth of that. */
export const LONGEST_SCHEDULE = 4096;
const LONGEST_ZONE = 255;

/** The error of a schedule, or undefined. */
export function scheduleProblem(text: string): string | undefined {
  if (text.length > LONGEST_SCHEDULE) return `must be no more than ${LONGEST_SCHEDULE} characters`;
  const zone = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(text);
  if (zone !== null && !isTimeZone(zone[1] as string)) return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`;
  const rest = zone === null ? text : (zone[2] as string).trim();
  if (rest.startsWith('@')) return wordProblem(rest);
  const fields = rest.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (let i = 0; i < 5; i++) {
    const problem = fieldProblem(fields[i] as string, bounds[i] as Bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function wordProblem(text: string): string | undefined {
  if (words.has(text)) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice('@every '.length));
    return undefined;
  } catch (error) {
    return `failed to parse duration ${text}: ${(error as Error).message}`;
  }
}

function fieldProblem(field: string, within: Bounds): string | undefined {
  for (const part of field.split(',')) {
    const problem = part === '' ? undefined : rangeProblem(part, within);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `5`, `1-5`, `*`, `?`, each with an optional `/step`. */
function rangeProblem(part: string, { min, max, names }: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = part.split('/');
  const [low = '', high, ...moreHyphens] = range.split('-');
  let start = min;
  let end = max;
  if (low !== '*' && low !== '?') {
    const first = numberOf(low, names);
    if (typeof first === 'string') return first;
    if (moreHyphens.length > 0) return `too many hyphens: ${part}`;
    const last = high === undefined ? first : numberOf(high, names);
    if (typeof last === 'string') return last;
    start = first;
    end = last;
  }
  let step = 1;
  if (stepText !== undefined) {
    if (moreSteps.length > 0) return `too many slashes: ${part}`;
    const stepNumber = numberOf(stepText);
    if (typeof stepNumber === 'string') return stepNumber;
    step = stepNumber;
    if (high === undefined) end = max;
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  return step === 0 ? `step of range should be a positive number: ${part}` : undefined;
}

function numberOf(text: string, names?: readonly string[]): number | string {
  const nameIndex = text === '' ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1);
  if (nameIndex >= 0) return nameIndex;
  if (!/^[+-]?[0-9]+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`;
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** Cache of checked time zones. */
const zones = new TextCache<boolean>(256, 64);

export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true;
  return name.length <= LONGEST_ZONE && zones.get(name, isKnownZone);
}
function isKnownZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
