/** Owners of fields by the line on which each field stands. */
import { type OwnedField, ownedFields } from '@plat-dev/patch/owners';
import { isMap, valueAt } from '../../../api/values.ts';
import { parseText, rangeOf } from './places.ts';

export interface FieldOwner {
  readonly manager: string;
  /** `scaler, by Update of scale, 2026-05-02T08:30:00Z` */
  readonly title: string;
}

/** Lines from 1, in their order. `object` has the values of the text and its managedFields. */
export function ownersByLine(text: string, object: unknown): Map<number, readonly FieldOwner[]> {
  const { root } = parseText(text);
  const lines = new Map<number, readonly FieldOwner[]>();
  if (root === undefined) return lines;
  const starts = lineStarts(text);
  for (const field of fieldsOf(object)) {
    const { from } = rangeOf(root, pathOf(field.pointer));
    const line = lineAt(starts, from);
    if (!lines.has(line)) lines.set(line, field.owners.map(ownerOf));
  }
  return new Map([...lines].sort(([one], [other]) => one - other));
}

/** Fields with owners; none where the object says nothing of them that can be read. */
export function fieldsOf(object: unknown): readonly OwnedField[] {
  if (!isMap(object)) return [];
  try {
    return ownedFields(
      valueAt(object, 'metadata', 'managedFields') as Parameters<typeof ownedFields>[0],
      object as Parameters<typeof ownedFields>[1],
    );
  } catch {
    return [];
  }
}

export function ownerOf({ name, operation, subresource, time }: OwnedField['owners'][number]): FieldOwner {
  const of = subresource === '' ? '' : ` of ${subresource}`;
  return { manager: name, title: `${name}, by ${operation}${of}${time === undefined ? '' : `, ${time}`}` };
}

/** `/spec/containers/0/image` */
function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= position) low = middle;
    else high = middle;
  }
  return low + 1;
}
