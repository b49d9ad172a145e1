/** More structures in complaints, printed as clients of a stock server know them; see `go-text.ts` and `go-list.ts`. */
import { amount } from './resources.ts';

const formats = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' } as const;

/** A quantity as it is kept. */
export function storedQuantityText(text: string): string {
  const { unscaled, scale, format } = amount(text);
  return `resource.Quantity{i:resource.int64Amount{value:${unscaled}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:"${formats[format]}"}`;
}

/** `core.ResourceList{"cpu":resource.Quantity{…}}` */
export function resourceListText(list: Readonly<Record<string, string>> | undefined): string {
  if (list === undefined) return 'core.ResourceList(nil)';
  const entries = Object.keys(list)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${storedQuantityText(list[name] as string)}`);
  return `core.ResourceList{${entries.join(', ')}}`;
}
