/** A short text for a pod template, the same for equal templates whatever the order of their keys, and safe within names. */
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { sortedKeys } from '@plat-dev/lib/sorted-list';
import { generatedAlphabet } from '@plat-dev/meta/names';

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
/** Parts of a template that are hashed between two yields. */
const PARTS_A_STEP = 512;

/** `collisions` is how often the text was found to belong to another template: it makes the next one. */
export function* templateHash(template: unknown, collisions = 0): Work<string> {
  const hash = new Hash();
  yield* addValue(template, hash);
  if (collisions > 0) hash.add(`#${collisions}`);
  return safeText(String(hash.value));
}

class Hash {
  value = OFFSET;
  parts = 0;

  add(text: string): void {
    let { value } = this;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), PRIME) >>> 0;
    this.value = value;
    this.parts++;
  }
}

/** Letters and digits that may stand in names, for any others. */
function safeText(text: string): string {
  let out = '';
  for (let i = 0; i < text.length; i++) out += generatedAlphabet[text.charCodeAt(i) % generatedAlphabet.length];
  return out;
}

function* addValue(value: unknown, hash: Hash): Work<void> {
  if (Array.isArray(value)) {
    hash.add('[');
    for (const item of value) yield* addValue(item, hash);
    hash.add(']');
  } else if (value !== null && typeof value === 'object') {
    hash.add('{');
    for (const key of yield* sortedKeys(value)) {
      hash.add(`${JSON.stringify(key)}:`);
      yield* addValue(own(value as Record<string, unknown>, key), hash);
    }
    hash.add('}');
  } else hash.add(`${jsonText(value) ?? 'null'},`);
  if (hash.parts >= PARTS_A_STEP) {
    hash.parts = 0;
    yield;
  }
}
