/** Types of values and of schemas. */

import { isInteger, isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '@plat-dev/schema/types';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { formatCheck } from './formats.ts';
import type { Extensions } from './node.ts';

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumeric(value)) return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

export function typesOf(schema: JSONSchemaProps, x: Extensions): readonly string[] {
  if (schema[x.intOrString] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

/** The format of a schema, if it is one that is checked. */
export function formatOf(schema: JSONSchemaProps, x: Extensions): string | undefined {
  return schema.format !== undefined && formatCheck(schema.format, x.release) !== undefined ? schema.format : undefined;
}

export interface TypeFault {
  readonly expectedType: string;
  readonly actual: string;
}

/** The message for a value of another type. If there is a format, it is named instead of the type. */
export function typeFault(value: JsonValue, schema: JSONSchemaProps, x: Extensions): TypeFault | undefined {
  const types = typesOf(schema, x);
  const format = formatOf(schema, x);
  const actual = typeOf(value);
  if (value === null) return types.length === 0 || schema.nullable ? undefined : { expectedType: types.join(), actual };
  if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) return undefined;
  const isText = actual === 'string' || actual === 'array';
  if (format !== undefined && !isText) return { expectedType: format, actual: own(formatNames, actual) ?? '' };
  return types.length === 0 ? undefined : { expectedType: types.join(), actual };
}
const formatNames: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };
