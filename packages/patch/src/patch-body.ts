/** The body of a patch: text, or a value that was parsed already because it is large. */
import { type ApiError, requestTooLarge } from '@plat-dev/meta/errors';
import { DecodeError, TooLargeError } from '@plat-dev/schema/errors';
import { parseJson } from '@plat-dev/schema/json/parse';
import type { JsonValue } from '@plat-dev/schema/types';

export type PatchBody = string | Buffer | ReadBody;
export interface ReadBody {
  readonly value?: JsonValue;
  /** Why it could not be parsed. */
  readonly fault?: DecodeError;
}

/** The JSON of a patch. `refuse` makes the error for an invalid one. Throws ApiError. */
export function patchValue(body: PatchBody, refuse: (why: string) => ApiError): JsonValue {
  try {
    if (typeof body === 'string' || Buffer.isBuffer(body)) return parseJson(body);
    if (body.fault !== undefined) throw body.fault;
    return body.value ?? null;
  } catch (error) {
    if (error instanceof TooLargeError) throw requestTooLarge(`Request entity too large: ${error.message}`);
    throw error instanceof DecodeError ? refuse(error.message) : error;
  }
}
