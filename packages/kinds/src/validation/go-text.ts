/**
 * Structures in errors, in the notation of a stock server: `map[string]string{"app":"web"}`. Only
 * the few structures that errors quote whole are here; `FieldErrors` prints texts and numbers itself.
 */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { parseQuantity, type Quantity } from '@plat-dev/meta/quantity';
import type { LabelSelector } from '../meta.ts';

const quote = (text: string): string => JSON.stringify(text);

/** Reports an invalid value by its text. */
export function invalidText(errors: FieldErrors, at: Path, text: string, detail: string): void {
  errors.add('FieldValueInvalid', at, `Invalid value: ${text}${detail === '' ? '' : `: ${detail}`}`);
}

export function unsupportedText(errors: FieldErrors, at: Path, text: string, supported: readonly string[]): void {
  errors.add('FieldValueNotSupported', at, `Unsupported value: ${text}: supported values: ${supported.map(quote).join(', ')}`);
}

export function mapText(map: Readonly<Record<string, string>> | undefined): string {
  if (map === undefined) return 'map[string]string(nil)';
  const entries = Object.keys(map)
    .sort()
    .map((key) => `${quote(key)}:${quote(map[key] as string)}`);
  return `map[string]string{${entries.join(', ')}}`;
}

export function listText(list: readonly string[] | undefined): string {
  return list === undefined ? '[]string(nil)' : `[]string{${list.map(quote).join(', ')}}`;
}

/** A structure of texts: `authorization.NonResourceAttributes{Path:"/x", Verb:"get"}`. */
export function structText(type: string, fields: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(fields).map(([name, text]) => `${name}:${quote(text ?? '')}`);
  return `${type}{${entries.join(', ')}}`;
}

export function intOrStringText(value: number | string): string {
  return typeof value === 'number'
    ? `intstr.IntOrString{Type:0, IntVal:${value}, StrVal:""}`
    : `intstr.IntOrString{Type:1, IntVal:0, StrVal:${quote(value)}}`;
}

export function selectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'null';
  const expressions = selector.matchExpressions;
  const expressionsText =
    expressions === undefined
      ? '[]v1.LabelSelectorRequirement(nil)'
      : `[]v1.LabelSelectorRequirement{${expressions
          .map((e) => `v1.LabelSelectorRequirement{Key:${quote(e.key)}, Operator:${quote(e.operator)}, Values:${listText(e.values)}}`)
          .join(', ')}}`;
  return `v1.LabelSelector{MatchLabels:${mapText(selector.matchLabels)}, MatchExpressions:${expressionsText}}`;
}

export const quantityFormats = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' } as const;

export function quantityText(quantity: Quantity | string): string {
  const q = typeof quantity === 'string' ? parseQuantity(quantity) : quantity;
  let { unscaled, scale } = q;
  while (unscaled !== 0n && unscaled % 10n === 0n && scale < 0) {
    unscaled /= 10n;
    scale++;
  }
  return `resource.Quantity{i:resource.int64Amount{value:${unscaled}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:${quote(quantityFormats[q.format])}}`;
}
