/** A short text for a pod template, the same for equal templates whatever the order of their keys, and safe within names. */
import { jsonText } from '@plat-dev/lib/json-text';
import { generatedAlphabet } from '@plat-dev/meta/names';

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** `collisions` is how often the text was found to belong to another template: it makes the next one. */
export function templateHash(template: unknown, collisions = 0): string {
  let hash = OFFSET;
  const add = (text: string): void => {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME) >>> 0;
  };
  walk(template, add);
  if (collisions > 0) add(`#${collisions}`);
  return safeText(String(hash));
}

/** Letters and digits that may stand in names, for any others. */
function safeText(text: string): string {
  let out = '';
  for (let i = 0; i < text.length; i++) out += generatedAlphabet[text.charCodeAt(i) % generatedAlphabet.length];
  return out;
}

function walk(value: unknown, add: (text: string) => void): void {
  if (Array.isArray(value)) {
    add('[');
    for (const item of value) walk(item, add);
    add(']');
  } else if (value !== null && typeof value === 'object') {
    add('{');
    for (const key of Object.keys(value).sort()) {
      const field = (value as Record<string, unknown>)[key];
      if (field === undefined) continue;
      add(`${JSON.stringify(key)}:`);
      walk(field, add);
    }
    add('}');
  } else add(`${jsonText(value) ?? 'null'},`);
}
