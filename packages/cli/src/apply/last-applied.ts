/** The annotation in which a client-side apply keeps what it applied, to find out later what was removed from the files. */

import { clientSideApply } from '@plat-dev/meta/identity';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject } from '@plat-dev/schema/types';
import { goJson } from '../output/go-json.ts';

export const lastAppliedAnnotation = clientSideApply.annotation;

type Annotated = JsonObject & { metadata?: JsonObject & { annotations?: JsonObject } };

/** The text of the annotation; undefined if the object has none. */
export function lastAppliedText(object: object): string | undefined {
  const value = (object as Annotated).metadata?.annotations?.[lastAppliedAnnotation];
  return typeof value === 'string' ? value : undefined;
}
/** What was applied; undefined without the annotation. Throws an Error if it cannot be parsed. */
export function lastAppliedOf(object: object): JsonObject | undefined {
  const text = lastAppliedText(object);
  if (text === undefined || text.trim() === '') return undefined;
  try {
    return parseExact(text) as JsonObject;
  } catch {
    throw new Error(`the annotation ${lastAppliedAnnotation} is not JSON: \`apply set-last-applied\` sets it`);
  }
}

/** The text for the annotation of an object: the object itself, without the annotation. */
export function configurationText(object: object): string {
  const { metadata, ...rest } = object as Annotated;
  if (metadata?.annotations === undefined) return `${goJson(object)}\n`;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations;
  return `${goJson({ ...rest, metadata: { ...metadata, annotations } })}\n`;
}
/** The object with the annotation. */
export function withLastApplied<T extends object>(object: T): T {
  const { metadata } = object as Annotated;
  // The stock client writes empty annotations into the text, too.
  const text = configurationText({ ...object, metadata: { ...metadata, annotations: metadata?.annotations ?? {} } });
  const annotations = { ...metadata?.annotations, [lastAppliedAnnotation]: text };
  return { ...object, metadata: { ...metadata, annotations } };
}
