/**
 * The note of a change: who made it, with which program, by which request. It is stored with the version (`Operation.note`) and shown
 * in history. Of kinds whose values history does not keep, it also holds the object without values.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { jsonText } from '@plat-dev/lib/json-text';
import { cut } from '@plat-dev/lib/message-values';
import { parseExact } from '@plat-dev/schema/json/parse';
import { textWithoutValues } from './without-values.ts';

/** The request by which an object is written; absent for writes that the server makes on its own account. */
export interface WriteOrigin {
  /** The verb of the request; `apply` for a server-side apply. */
  readonly verb: string;
  readonly userAgent: string;
  readonly auditId: string;
  readonly subresource: string;
  /** Who authenticated, where the user is someone they act as. */
  readonly impersonator?: string | undefined;
}

export interface ChangeNote {
  readonly user: string;
  readonly manager: string;
  readonly origin: WriteOrigin;
  /** The object without values, where history does not keep them. */
  readonly outline?: Readonly<Record<string, unknown>> | undefined;
}

const MAX_NAME = 256;
/** Bytes of a note without its outline. Characters that take several bytes can make it longer: then only the user and the verb are noted. */
const MAX_NOTE = 2048;

/** Keys are short: each version of each object carries them. */
interface StoredNote {
  readonly u?: string;
  readonly a?: string | undefined;
  readonly v?: string;
  readonly s?: string | undefined;
  readonly m?: string | undefined;
  readonly i?: string | undefined;
  readonly p?: string | undefined;
  readonly o?: Readonly<Record<string, unknown>> | undefined;
}

/** The bytes of a note. `object`: the one whose values are not kept. */
export function encodeNote(user: string, manager: string, origin: WriteOrigin, object?: ApiObject): Buffer {
  const { auditId, verb } = origin;
  const request = auditId === '' ? '' : `,"i":${JSON.stringify(cut(auditId, MAX_NAME))}`;
  const text = writerText(user, manager, origin) + request;
  const isTooLong = text.length * 3 >= MAX_NOTE && Buffer.byteLength(text) >= MAX_NOTE;
  const bounded = isTooLong ? textOf({ u: cut(user, MAX_NAME), v: verb }) : text;
  return Buffer.from(object === undefined ? `${bounded}}` : `${bounded},"o":${textWithoutValues(object)}}`);
}

/** Texts of recent writers: most writes are made by a few programs. */
const writerTexts = new BoundedCache<string, { readonly writer: readonly string[]; readonly text: string }>(256);

/** What all requests of a writer have in common. */
function writerText(user: string, manager: string, { verb, userAgent, subresource, impersonator = '' }: WriteOrigin): string {
  const writer = [user, verb, userAgent, subresource, manager, impersonator];
  const key = user + verb + manager;
  const recent = writerTexts.get(key);
  if (recent !== undefined && writer.every((part, i) => part === recent.writer[i])) return recent.text;
  const [u = '', v, a, s, m, p] = writer.map((part) => (part === '' ? undefined : cut(part, MAX_NAME)));
  const text = textOf({ u, v: v ?? '', a, s, m, p });
  writerTexts.set(key, { writer, text });
  return text;
}
/** Without its end: more may follow. */
const textOf = (note: StoredNote): string => jsonText(note).slice(0, -1);

/** Undefined for bytes that are no note. */
export function decodeNote(bytes: Buffer | undefined): ChangeNote | undefined {
  if (bytes === undefined) return undefined;
  let stored: StoredNote;
  try {
    stored = parseExact(bytes.toString()) as StoredNote;
  } catch {
    return undefined;
  }
  const { u = '', v = '', a = '', s = '', m = '', i = '', p, o } = stored;
  return { user: u, manager: m, origin: { verb: v, userAgent: a, auditId: i, subresource: s, impersonator: p }, outline: o };
}
