import { jsonText } from './json-text.ts';
/** External values in messages: truncated when they are long, without the cost of encoding the whole value. */

/** Maximum characters of one value, or of one path, in a message. */
export const SHOWN_VALUE = 4096;

/** A text of at most `limit` characters and a note of how many were cut. */
export function cut(text: string, limit = SHOWN_VALUE): string {
  if (text.length <= limit) return text;
  // A surrogate pair is not split.
  const half = text.charCodeAt(limit - 1) >= 0xd800 && text.charCodeAt(limit - 1) <= 0xdbff;
  const cutText = text.slice(0, half ? limit - 1 : limit);
  return `${cutText}... (${text.length - cutText.length} more characters)`;
}

/** The JSON text of a value; of a long one the beginning. The rest is not visited. */
export function shownJson(value: unknown, limit = SHOWN_VALUE): string {
  if (typeof value === 'string') return value.length <= limit ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, limit))}...`;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return jsonText(value) ?? 'null';
  const out = new MessageText(limit);
  out.add(value);
  return out.remaining < 0 ? `${out.parts.join('').slice(0, limit)}...` : out.parts.join('');
}

class MessageText {
  readonly parts: string[] = [];
  remaining: number;

  constructor(limit: number) {
    this.remaining = limit;
  }
  private put(text: string): void {
    this.parts.push(text);
    this.remaining -= text.length;
  }
  /** Ends early once the limit is reached. */
  add(value: unknown): void {
    if (this.remaining < 0) return;
    if (typeof value !== 'object' || value === null) this.put(shownJson(value, this.remaining + 1));
    else if (Array.isArray(value)) this.addList(value);
    else this.addObject(value as Record<string, unknown>);
  }
  private addList(list: readonly unknown[]): void {
    this.put('[');
    for (let i = 0; i < list.length && this.remaining >= 0; i++) {
      if (i > 0) this.put(',');
      this.add(list[i] === undefined ? null : list[i]);
    }
    this.put(']');
  }
  private addObject(object: Record<string, unknown>): void {
    let first = true;
    this.put('{');
    for (const key in object) {
      if (this.remaining < 0) return;
      if (object[key] === undefined) continue;
      this.put(`${first ? '' : ','}${shownJson(key, this.remaining + 1)}:`);
      first = false;
      this.add(object[key]);
    }
    this.put('}');
  }
}
