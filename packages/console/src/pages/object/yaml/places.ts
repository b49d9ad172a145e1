/** From fields to places in a YAML text, and back. */
import { placedDocuments, type YamlNode } from '@plat-dev/schema/yaml/places';
import type { FieldPath } from '../openapi/schema.ts';

export interface Range {
  readonly from: number;
  readonly to: number;
}
export type ParsedText =
  | { readonly value: unknown; readonly root: YamlNode | undefined; readonly error: undefined }
  | { readonly value: undefined; readonly root: undefined; readonly error: { readonly message: string; readonly line: number } };

/** The first document of a text. Never throws: a text that is being written is often wrong. */
export function parseText(text: string): ParsedText {
  try {
    const [document] = placedDocuments(text);
    return { value: document?.value ?? null, root: document?.place, error: undefined };
  } catch (error) {
    const message = (error as Error).message;
    return { value: undefined, root: undefined, error: { message, line: Number(/line (\d+)/.exec(message)?.[1] ?? 1) } };
  }
}

/** Where a field stands: its key, or the item of a list; for one that is absent, the nearest field around it. */
export function rangeOf(root: YamlNode, path: FieldPath): Range {
  let node = root;
  let range: Range = firstLine(root);
  for (const key of path) {
    if (node.type === 'list' || node.type === 'flowList') {
      const item = node.items[Number(key)];
      if (item === undefined) return range;
      range = firstLine(item);
      node = item;
      continue;
    }
    const entry = node.entries.find((one) => one.key === String(key));
    if (entry === undefined) return range;
    range = { from: entry.start, to: entry.end };
    node = entry.place;
  }
  return range;
}

/** A node of many lines is marked at its first key. */
function firstLine(node: YamlNode): Range {
  const [entry] = node.entries;
  return entry === undefined ? { from: node.start, to: Math.max(node.end, node.start) } : { from: entry.start, to: entry.end };
}

/** The text without the lines of one field, such as `metadata.managedFields`; itself where it is not there. */
export function withoutField(text: string, path: FieldPath): string {
  const { root } = parseText(text);
  if (root === undefined) return text;
  let node = root;
  for (const [i, key] of path.entries()) {
    const at = node.entries.findIndex((one) => one.key === key);
    const entry = node.entries[at];
    if (entry === undefined || node.type !== 'map') return text;
    if (i === path.length - 1) {
      const next = node.entries[at + 1];
      const end = next === undefined ? endOfLine(text, entry.place.end) : startOfLine(text, next.start);
      return text.slice(0, startOfLine(text, entry.start)) + text.slice(end);
    }
    node = entry.place;
  }
  return text;
}

const startOfLine = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at - 1);
  return end < 0 ? text.length : end + 1;
}
