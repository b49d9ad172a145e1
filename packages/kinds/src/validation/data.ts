/** Rules that config maps and secrets share. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';

/** Limit of the bytes of all values of a config map or secret together. */
export const maxDataBytes = 1024 * 1024;

/** How many entries a map has. */
export function sizeOf(map: object | undefined): number {
  let size = 0;
  for (const _ in map) size++;
  return size;
}

/** The number of bytes of a base64 text. */
export function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

export function immutableOnceSet(unchanged: boolean, field: string, errors: FieldErrors): void {
  if (!unchanged) errors.forbidden(Path.of(field), 'field is immutable when `immutable` is set');
}
