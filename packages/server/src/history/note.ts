/**
 * The note of a change: who made it, with which program, by which request. It is stored with the version (`Operation.note`) and shown
 * in history. Of kinds whose values history does not keep, it also holds the object without values.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
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
  const { verb, userAgent, auditId, subresource, impersonator } = origin;
  const note: StoredNote = {
    u: cut(user, MAX_NAME),
    v: verb,
    a: textOf(userAgent),
    s: textOf(subresource),
    m: textOf(manager),
    i: textOf(auditId),
    p: textOf(impersonator),
  };
  const text = jsonText(note);
  const bounded = text.length * 3 > MAX_NOTE && Buffer.byteLength(text) > MAX_NOTE ? jsonText({ u: note.u, v: verb }) : text;
  return Buffer.from(object === undefined ? bounded : `${bounded.slice(0, -1)},"o":${textWithoutValues(object)}}`);
}
const textOf = (text: string | undefined): string | undefined => (text === undefined || text === '' ? undefined : cut(text, MAX_NAME));

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
