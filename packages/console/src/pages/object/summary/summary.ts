/** What the summary of an object shows, as values: kinds describe it (`kinds/`), components show it. */
import type { StatusTone } from '../../../parts/tones.ts';

export type Shown =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'state'; readonly text: string; readonly tone?: StatusTone | undefined }
  | { readonly type: 'time'; readonly time: string }
  | {
      readonly type: 'link';
      readonly apiVersion: string;
      readonly kind: string;
      readonly namespace?: string | undefined;
      readonly name: string;
    }
  | { readonly type: 'labels'; readonly labels: Readonly<Record<string, string>> }
  | { readonly type: 'list'; readonly items: readonly Shown[] }
  /** A value in Base64 that is shown when it is asked for. */
  | { readonly type: 'hidden'; readonly base64: string };

export interface Fact {
  readonly label: string;
  readonly value: Shown;
  /** What the schema says of the field. */
  readonly hint?: string | undefined;
}
export interface FactTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Shown[])[];
  /** What to say where there are no rows. Without it, such a table is left out. */
  readonly empty?: string;
}
export interface Summary {
  readonly facts: readonly Fact[];
  readonly tables: readonly FactTable[];
}

export const text = (value: string): Shown => ({ type: 'text', text: value });
export const code = (value: string): Shown => ({ type: 'code', text: value });
export const state = (value: string, tone?: StatusTone): Shown => ({ type: 'state', text: value, tone });
export const list = (items: readonly Shown[]): Shown => ({ type: 'list', items });

/** A fact, or none where there is nothing to show. */
export function fact(label: string, value: string | Shown | undefined): readonly Fact[] {
  if (value === undefined || value === '') return [];
  if (typeof value === 'string') return [{ label, value: text(value) }];
  const isEmpty =
    (value.type === 'list' && value.items.length === 0) ||
    (value.type === 'labels' && Object.keys(value.labels).length === 0) ||
    (value.type === 'time' && value.time === '');
  return isEmpty ? [] : [{ label, value }];
}
