/** The page of a kind that has none of its own: its fields in order of their names, which are split into words. */
import { own } from '@plat-dev/lib/own';
import type { Page } from './page.ts';

type Values = Readonly<Record<string, unknown>>;

const ownLines = ['.metadata.name', '.metadata.namespace', '.metadata.labels', '.metadata.annotations'];

/** `managedFields`: whether they are shown, as stock clients of this release do. */
export function describeAny(page: Page, object: Values, managedFields: boolean): void {
  const metadata = (object.metadata ?? {}) as { name?: string; namespace?: string } & Record<
    'labels' | 'annotations',
    Record<string, string>
  >;
  page.field('Name', metadata.name).field('Namespace', metadata.namespace);
  page.labels('Labels', metadata.labels ?? {}).annotations('Annotations', metadata.annotations ?? {});
  writeFields(page, object, '', managedFields ? ownLines : [...ownLines, '.metadata.managedFields']);
}

function writeFields(page: Page, values: Values, path: string, skip: readonly string[]): void {
  for (const field of Object.keys(values).sort()) {
    const value = values[field];
    const at = `${path}.${field}`;
    if (skip.includes(at)) continue;
    if (Array.isArray(value)) {
      page.heading(fieldLabel(field));
      for (const item of value) {
        if (isMap(item)) writeFields(page.at(1), item, at, skip);
        else page.at(1).line(valueText(item));
      }
    } else if (isMap(value)) {
      page.heading(fieldLabel(field));
      writeFields(page.at(1), value, at, skip);
    } else page.field(fieldLabel(field), valueText(value));
  }
}
const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(' ')}]`;
  if (!isMap(value)) return String(value);
  const pairs = Object.keys(value).sort();
  return `map[${pairs.map((key) => `${key}:${valueText(own(value, key))}`).join(' ')}]`;
}
/** Whole numbers in full, others as Go prints them: `0.5`, `1.5e-05`, `1.2345675e+06`. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 2 ** 63 ? BigInt(value).toString() : exponential(value);
  return Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6 ? exponential(value) : String(value);
}
const exponential = (value: number): string => value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');

const acronyms = new Set(['API', 'URL', 'UID', 'OSB', 'GUID']);

/** `lastSeenURL` → `Last Seen URL`. Names with other characters than letters and dashes stay as they are. */
export function fieldLabel(field: string): string {
  if (/[^\p{L}-]/u.test(field)) return field;
  return camelWords(field)
    .map((word) => (acronyms.has(word.toUpperCase()) ? word.toUpperCase() : word.replace(/^./u, (first) => first.toUpperCase())))
    .join(' ');
}
/** Runs of lower case, upper case and other characters; the last capital before lower case begins its word. */
function camelWords(text: string): string[] {
  const runs = text.match(/\p{Lu}+|\p{Ll}+|[^\p{Lu}\p{Ll}]+/gu) ?? [];
  for (let i = 0; i + 1 < runs.length; i++) {
    const run = runs[i] as string;
    if (!/^\p{Lu}/u.test(run) || !/^\p{Ll}/u.test(runs[i + 1] as string)) continue;
    const capital = [...run].at(-1) as string;
    runs[i] = run.slice(0, -capital.length);
    runs[i + 1] = `${capital}${runs[i + 1]}`;
  }
  return runs.filter((run) => run !== '');
}
