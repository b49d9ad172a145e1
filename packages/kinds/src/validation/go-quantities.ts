/** More structures in errors, in the notation of a stock server; see `go-text.ts` and `go-list.ts`. */
import { own } from '@plat-dev/lib/own';
import { parseQuantity } from '@plat-dev/meta/quantity';
import { spelling } from './body-values.ts';
import { quantityFormats } from './go-text.ts';

/** An amount as a stock server prints it; `s` is its text, if the server keeps that. */
export function readQuantityText(text: string): string {
  const { unscaled, scale, format, originalText } = parseQuantity(text);
  return `resource.Quantity{i:resource.int64Amount{value:${unscaled}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(originalText ?? '')}, Format:"${quantityFormats[format]}"}`;
}

/** `core.ResourceList{"cpu":resource.Quantity{…}}`; `sentValue` is the value as sent. */
export function resourceListText(list: Readonly<Record<string, string>> | undefined, sentValue: unknown): string {
  const texts = typeof sentValue === 'object' && sentValue !== null ? (sentValue as Readonly<Record<string, unknown>>) : undefined;
  if (list === undefined) return texts === undefined ? 'core.ResourceList(nil)' : 'core.ResourceList{}';
  const entries = Object.keys(list)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${readQuantityText(spelling(list[name] as string, own(texts, name)))}`);
  return `core.ResourceList{${entries.join(', ')}}`;
}
