/**
 * The normal form of a merged object. Parts that a merge did not change are shared with the stored object: these are in the
 * normal form already and only copied, and the rest is decoded as any object.
 */
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { own, setOwn } from '@plat-dev/lib/own';
import { decode } from '@plat-dev/schema/json';
import { cloneJson } from '@plat-dev/schema/json/plain';
import { type MessageType, resolve } from '@plat-dev/schema/types';
import { fieldNamed, isObject, type Values } from './shape.ts';

type Entries = { [key: string]: unknown };

/** The metadata of an object, as any release has it. */
const isMetadata = (type: MessageType | undefined): boolean => type?.name === ObjectMeta.name;

/**
 * The result of decoding `merged`, with less work. It shares nothing with either, except managedFields, which are never
 * changed in place. Throws DecodeError.
 */
export function decodeMerged(type: MessageType, live: Values | undefined, merged: Values): Values {
  if (live === undefined) return decode(type, merged) as Values;
  const decodedPart = decode(type, changedPart(type, live, merged)) as Entries;
  addUnchanged(type, decodedPart, live, merged);
  return decodedPart;
}

/** The merged object without the parts that it shares with the live one, message by message. */
function changedPart(type: MessageType, live: Values, merged: Values): Values {
  const part: Entries = {};
  for (const key in merged) {
    const before = own(live, key);
    const after = merged[key];
    if (after === before) continue;
    const inner = messageAt(type, key, before, after);
    setOwn(part, key, inner === undefined ? after : changedPart(inner, before as Values, after as Values));
  }
  return part;
}

function addUnchanged(type: MessageType, decodedPart: Entries, live: Values, merged: Values): void {
  for (const key in merged) {
    const before = own(live, key);
    const after = merged[key];
    if (after === undefined) continue;
    if (after === before && isMetadata(type) && key === 'managedFields') {
      setOwn(decodedPart, key, after);
      continue;
    }
    const inner = messageAt(type, key, before, after);
    if (after === before) {
      // Metadata is copied field by field: it holds managedFields.
      const copy = isMetadata(inner) ? {} : cloneJson(after);
      setOwn(decodedPart, key, copy);
      if (inner !== undefined && isMetadata(inner)) addUnchanged(inner, copy as Entries, before as Values, after as Values);
      continue;
    }
    if (inner !== undefined) addUnchanged(inner, own(decodedPart, key) as Entries, before as Values, after as Values);
  }
}

/** The type of a field that is a message on both sides. */
function messageAt(type: MessageType, key: string, before: unknown, after: unknown): MessageType | undefined {
  if (!isObject(before) || !isObject(after)) return undefined;
  const field = fieldNamed(type, key);
  const resolvedType = field === undefined ? undefined : resolve(field.type);
  return resolvedType?.node === 'message' ? resolvedType : undefined;
}
