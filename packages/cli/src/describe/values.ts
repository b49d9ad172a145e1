/** Values as the stock client prints them on pages of describe. */
import type { ObjectMeta } from '@plat-dev/kinds/meta';
import { fromLabelSelector, type LabelSelectorObject } from '@plat-dev/meta/labels';
import { timeMillis } from '@plat-dev/meta/time';
import { sortedPairs } from './page.ts';

/** What a server answered, by the type of the schema: any field may be missing. Nulls have been taken out. */
export type ReadForm<T> = T extends readonly (infer I)[]
  ? readonly ReadForm<I>[]
  : T extends object
    ? string extends keyof T
      ? Readonly<Record<string, ReadForm<T[keyof T]>>>
      : { readonly [K in keyof T]?: ReadForm<T[K]> }
    : T;
/** An object with its metadata. */
export type Described<T> = Omit<ReadForm<T>, 'metadata'> & { readonly metadata: ReadForm<ObjectMeta> };

/** Servers write some empty values as null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, withoutNulls(part)]),
  );
}

export const orNone = (text: string | undefined): string => text || '<none>';
export const orUnset = (value: string | number | boolean | undefined): string => (value === undefined ? '<unset>' : String(value));
export const yesNo = (value: boolean | undefined): string => (value ? 'True' : 'False');

/** `[a b]` */
export const bracketed = (values: readonly (string | number)[] = []): string => `[${values.join(' ')}]`;
/** `map[a:1 b:2]` */
export const mapText = (values: Readonly<Record<string, string>> = {}): string =>
  `map[${Object.keys(values)
    .sort()
    .map((key) => `${key}:${values[key]}`)
    .join(' ')}]`;

/** `app=web,tier=front` */
export const labelsText = (labels: Readonly<Record<string, string>> = {}): string => orNone(sortedPairs(labels).join(','));

/** `app=web,tier in (back,front)`; empty where everything or nothing is selected. */
export const selectorText = (selector: ReadForm<LabelSelectorObject> | undefined): string =>
  fromLabelSelector(selector as LabelSelectorObject | undefined).toString();
export const selectorOrNone = (selector: ReadForm<LabelSelectorObject> | undefined): string => orNone(selectorText(selector));

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** `Mon, 02 Jan 2006 15:04:05 -0700`, in the time zone of the machine. */
export function longTime(text: string | undefined): string {
  if (text === undefined) return 'Mon, 01 Jan 0001 00:00:00 +0000';
  const at = new Date(timeMillis(text));
  return `${days[at.getDay()]}, ${two(at.getDate())} ${months[at.getMonth()]} ${at.getFullYear()} ${clockTime(at)} ${offsetOf(at)}`;
}
/** `2006-01-02 15:04:05 -0700 MST` */
export function timeWithZone(text: string | undefined): string {
  if (text === undefined) return '0001-01-01 00:00:00 +0000 UTC';
  const at = new Date(timeMillis(text));
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clockTime(at)} ${offsetOf(at)} ${zoneName(at)}`;
}
const clockTime = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
function offsetOf(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${two(size % 60)}`;
}
/** `CEST`; zones without a name of their own have their offset: `+03`. */
function zoneName(at: Date): string {
  for (const locale of ['en-US', 'en-GB']) {
    const name = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' })
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName')?.value;
    if (name !== undefined && !/^GMT[+-]/.test(name)) return name;
  }
  return offsetOf(at).replace(/00$/, '');
}

/** `Kind/name` of the controller of an object. */
export function controllerOf({ ownerReferences = [] }: ReadForm<ObjectMeta>): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller);
  return owner === undefined ? undefined : `${owner.kind}/${owner.name}`;
}
