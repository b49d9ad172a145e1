/** JSON text of any value, with its integers exact: JSON.stringify refuses a bigint. */

/** As JSON.stringify; `indent` is what each level is indented by, or its number of blanks. */
export function jsonText(value: unknown, indent: number | string = ''): string {
  try {
    return JSON.stringify(value, undefined, indent) as unknown as string;
  } catch (error) {
    if (!holdsBigint(value, new Set())) throw error;
    return textOf(value, typeof indent === 'number' ? ' '.repeat(indent) : indent, '') as string;
  }
}

function holdsBigint(value: unknown, outer: Set<object>): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (outer.has(value)) return false;
  outer.add(value);
  const holds = Object.values(value).some((part) => holdsBigint(part, outer));
  outer.delete(value);
  return holds;
}

/** Undefined for what JSON has no text for. */
function textOf(value: unknown, indent: string, margin: string): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value) as unknown as string | undefined;
  const inner = margin + indent;
  if (Array.isArray(value))
    return enclosed(
      '[]',
      value.map((item) => textOf(item, indent, inner) ?? 'null'),
      inner,
      margin,
    );
  const parts: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const text = textOf(item, indent, inner);
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${indent === '' ? '' : ' '}${text}`);
  }
  return enclosed('{}', parts, inner, margin);
}
function enclosed([open, close]: string, parts: readonly string[], inner: string, margin: string): string {
  if (parts.length === 0) return `${open}${close}`;
  if (inner === '') return `${open}${parts.join(',')}${close}`;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
}
