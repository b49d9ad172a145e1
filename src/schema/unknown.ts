/** Fields that a body names and its schema does not. Only field validation asks for them, so decoding does not look. */
import type { Problem } from './errors.ts';
import { resolve, type Type } from './types.ts';
import { fieldOf } from './walk.ts';

/** Tells of every field of a parsed body that the type does not know. */
export function reportUnknownFields(type: Type, value: unknown, report: (problem: Problem) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'scalar':
      return;
    case 'list':
      if (Array.isArray(value)) for (const [i, item] of value.entries()) reportUnknownFields(resolved.item, item, report, `${path}[${i}]`);
      return;
    case 'map':
      for (const [key, item] of Object.entries(value)) reportUnknownFields(resolved.value, item, report, join(path, key));
      return;
    case 'union':
      reportUnknownFields((Array.isArray(value) ? resolved.other : resolved.object).type, value, report, path);
      return;
    case 'message': {
      if (Array.isArray(value)) return;
      const known = resolved.structure ?? resolved;
      for (const [key, item] of Object.entries(value)) {
        const field = fieldOf(known, key);
        if (field !== undefined) reportUnknownFields(field.type, item, report, join(path, key));
        else if (known.unknown === 'drop') report({ type: 'unknown', path: join(path, key) });
      }
    }
  }
}
const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);
