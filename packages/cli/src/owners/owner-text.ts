/** Managers in words and colours. */
import type { Colour } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';

/** A manager of fields, of the server's list or of this program's. */
export interface Owner {
  readonly name: string;
  readonly operation: string;
  readonly subresource: string;
  readonly time: string | undefined;
}

/** `scaler (Update of scale, 2026-05-01T10:00:00Z)`. */
export function ownerText({ name, operation, subresource, time }: Owner): string {
  const how = subresource === '' ? operation : `${operation} of ${subresource}`;
  return printable(`${name} (${how}${time === undefined ? '' : `, ${time}`})`);
}

const palette: readonly Colour[] = ['green', 'cyan', 'yellow', 'magenta', 'blue', 'red'];

/** One colour for each name, in the order in which they come; after six they repeat. */
export function ownerColours(owners: readonly Owner[]): ReadonlyMap<string, Colour> {
  const names = [...new Set(owners.map(({ name }) => name))];
  return new Map(names.map((name, i) => [name, palette[i % palette.length] as Colour]));
}
