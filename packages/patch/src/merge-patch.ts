/** JSON merge patch (RFC 7386): objects are merged key by key, null removes, everything else replaces. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { badRequest } from '@plat-dev/meta/errors';
import { holdsFloats } from '@plat-dev/schema/json/parse';
import type { JsonValue } from '@plat-dev/schema/types';
import { earlyRules, type Patch, type PatchRules, patchOf } from './json-patch.ts';
import { type PatchBody, patchValue } from './patch-body.ts';
import { isObject } from './shape.ts';
import { touchedBy } from './touched.ts';

type JsonMap = { [key: string]: JsonValue };

/** Parses the body of a patch request. Throws ApiError. */
export function readMergePatch(body: PatchBody, { refusesLists }: PatchRules = earlyRules): Patch {
  const patch = patchValue(body, () => badRequest('Invalid JSON Patch'));
  if (typeof patch !== 'object' || patch === null) throw badRequest('Invalid JSON Patch');
  if (refusesLists && Array.isArray(patch))
    throw badRequest('error decoding patch: json: cannot unmarshal array: a merge patch is an object');
  return patchOf((document) => mergedValue(document, patch), { touched: touchedBy(patch), floats: holdsFloats(patch) });
}

/** The merged value shares unchanged parts with both. */
export function* mergedValue(document: JsonValue | undefined, patch: JsonValue, merged = { keys: 0 }): Work<JsonValue> {
  if (!isObject(patch)) return patch;
  const result: JsonMap = isObject(document) ? { ...(document as JsonMap) } : {};
  for (const key of Object.keys(patch)) {
    if (++merged.keys % KEYS_A_STEP === 0) yield;
    const value = patch[key] as JsonValue;
    if (value === null) delete result[key];
    else if (isObject(value)) setOwn(result, key, yield* mergedValue(own(result, key) as JsonValue | undefined, value, merged));
    else setOwn(result, key, value);
  }
  return result;
}
/** Keys that are merged between two yields. */
const KEYS_A_STEP = 1024;
