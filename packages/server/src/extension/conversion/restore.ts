/**
 * A webhook may change everything of an object except its kind and identity; of its metadata, only labels and annotations.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { validateAnnotations } from '@plat-dev/kinds/validation/metadata';
import { equal } from '@plat-dev/lib/equal';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabels } from '@plat-dev/meta/labels';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

/** An invalid response; `where` names the invalid part. */
export class BadObject extends Error {
  readonly where: 'type' | 'object' | 'metadata';

  constructor(where: BadObject['where'], message: string) {
    super(message);
    this.where = where;
  }
}

/** The converted object, with the metadata that a webhook may not change restored. Throws BadObject. */
export function restored(original: ApiObject, value: JsonValue | undefined, desiredVersion: string): JsonObject {
  const convertedObject = checkedType(original, value, desiredVersion);
  const metadata = isObject(convertedObject.metadata) ? convertedObject.metadata : {};
  const same = (field: string, originalValue: string | undefined, convertedValue: JsonValue | undefined): void => {
    if ((originalValue ?? '') !== (convertedValue ?? ''))
      throw new BadObject(
        'object',
        `must have the same ${field}: ${originalValue ?? ''} != ${typeof convertedValue === 'string' ? convertedValue : ''}`,
      );
  };
  same('name', original.metadata.name, metadata.name);
  same('namespace', original.metadata.namespace, metadata.namespace);
  same('UID', original.metadata.uid, metadata.uid);
  if (convertedObject.metadata === undefined) throw new BadObject('metadata', 'missing metadata in converted object');
  const { labels: _labels, annotations: _annotations, ...systemMetadata } = structuredClone(original.metadata);
  const labels = texts(metadata.labels, 'labels');
  const annotations = texts(metadata.annotations, 'annotations');
  checkChanged(original, labels, annotations);
  return {
    ...convertedObject,
    metadata: {
      ...systemMetadata,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    } as JsonObject,
  };
}

function checkedType(original: ApiObject, value: JsonValue | undefined, desiredVersion: string): JsonObject {
  if (!isObject(value)) throw new BadObject('type', 'it is not an object');
  const { apiVersion = '', kind = '' } = value;
  if (apiVersion !== desiredVersion)
    throw new BadObject('type', `invalid groupVersion (expected ${desiredVersion}, received ${String(apiVersion)})`);
  if (kind !== original.kind) throw new BadObject('type', `invalid kind (expected ${original.kind ?? ''}, received ${String(kind)})`);
  return value;
}

type Texts = Readonly<Record<string, string>>;

function texts(value: JsonValue | undefined, field: string): Texts | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new BadObject('metadata', `invalid metadata.${field} of type ${typeName(value)} in converted object`);
  for (const [key, item] of Object.entries(value))
    if (typeof item !== 'string')
      throw new BadObject('metadata', `metadata.${field}[${key}] must be a string, but is ${typeName(item)} in converted object`);
  return value as Texts;
}

/** Values that were there before are not validated again. */
function checkChanged({ metadata }: ApiObject, labels: Texts | undefined, annotations: Texts | undefined): void {
  const errors = new FieldErrors();
  const at = Path.of('metadata');
  if (!equal(labels ?? {}, metadata.labels ?? {})) validateLabels(labels ?? {}, at.child('labels'), errors);
  if (!equal(annotations ?? {}, metadata.annotations ?? {})) validateAnnotations(annotations ?? {}, at.child('annotations'), errors);
  if (!errors.empty) throw new BadObject('metadata', errors.list.map(({ field, message }) => `${field}: ${message}`).join(', '));
}

const typeName = (value: JsonValue): string => (Array.isArray(value) ? 'list' : typeof value);
const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
