/**
 * Numbers of a patch that are floats by their spelling, as `1.0`. An integer field accepts none of them, and
 * the test of a JSON patch compares notations: `1.0` never equals the `1` of a document.
 */
import type { Work } from '@plat-dev/lib/slices';
import { unprocessable } from '@plat-dev/meta/errors';
import { DecodeError } from '@plat-dev/schema/errors';
import { parsedJson } from '@plat-dev/schema/json/parse';
import { checkIntegerFields, floatFault, isInteger, typeBelow, visitFloats } from '@plat-dev/schema/json/spelled-integers';
import type { MessageType, Type } from '@plat-dev/schema/types';
import { faultyPatch } from './faulty-patch.ts';

/** Throws ApiError. */
export function* checkPatchFloats(json: boolean, schema: MessageType, body: Buffer): Work<void> {
  try {
    if (json) yield* checkOperations(schema, body);
    else yield* checkIntegerFields(schema, body.toString('utf8'));
  } catch (error) {
    throw error instanceof DecodeError ? faultyPatch(body, error.message) : error;
  }
}

/** A place in the text of a JSON patch. */
type Place =
  | { readonly in: 'operations' }
  | { readonly in: 'operation'; readonly operation: Operation }
  | { readonly in: 'test' }
  /** The value that is put into the document, and its path there. */
  | { readonly in: 'value'; readonly type: Type; readonly path: readonly string[] };

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
}

function* checkOperations(schema: MessageType, body: Buffer): Work<void> {
  const operations = (yield* parsedJson(body)) as unknown as readonly Operation[];
  const below = (place: Place, step: string | number): Place | undefined => {
    switch (place.in) {
      case 'operations':
        return { in: 'operation', operation: operations[step as number] ?? {} };
      case 'operation':
        return step === 'value' ? placeOfValue(schema, place.operation) : undefined;
      case 'test':
        return place;
      case 'value': {
        const type = typeBelow(place.type, step);
        return type === undefined ? undefined : { ...place, type };
      }
    }
  };
  yield* visitFloats<Place>(body.toString('utf8'), { in: 'operations' }, below, (place, spelling, steps) => {
    if (place.in === 'test' && spelling !== String(Number(spelling))) throw unprocessable();
    // The first two segments lead to the value of the operation.
    if (place.in === 'value' && isInteger(place.type)) throw floatFault(schema, place.type, spelling, [...place.path, ...steps.slice(2)]);
  });
}

function placeOfValue(schema: MessageType, { op, path }: Operation): Place | undefined {
  if (op === 'test') return { in: 'test' };
  if (typeof path !== 'string' || (op !== 'add' && op !== 'replace')) return undefined;
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')));
  let type: Type | undefined = schema;
  for (const part of parts) type = type === undefined ? undefined : typeBelow(type, part);
  return type === undefined ? undefined : { in: 'value', type, path: parts };
}
