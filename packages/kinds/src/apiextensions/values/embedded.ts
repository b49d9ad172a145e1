/** Embedded resources in custom objects: they have apiVersion and kind, and their metadata is that of objects. */

import { own } from '@plat-dev/lib/own';
import { isApiVersion } from '@plat-dev/meta/api-version';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label, pathSegmentName } from '@plat-dev/meta/names';
import { DecodeError } from '@plat-dev/schema/errors';
import { decode } from '@plat-dev/schema/json';
import { isNormal } from '@plat-dev/schema/json/normal-form';
import { type JsonValue, message, opt, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { validateMetadata } from '../../validation/metadata.ts';
import { goValue } from '../go-value.ts';
import { isValues, type ValueNode, type Values } from './node.ts';
import { below, eachPart } from './parts.ts';

/** Metadata of an object that was never stored by itself: creationTimestamp may be absent. */
export const EmbeddedMeta = message(ObjectMeta.name, { ...ObjectMeta.fields, creationTimestamp: opt(8, time) });

/** How invalid metadata is treated: that of a client is refused, that of a stored object loses the invalid fields. */
export type Broken = 'refuse' | 'drop';

/** Brings the metadata of all objects inside a value into its normal form, in place. Throws DecodeError. */
export function readEmbedded(node: ValueNode, value: unknown, broken: Broken, at?: Path): void {
  if (!node.below.resources || typeof value !== 'object' || value === null) return;
  if (node.resource === 'inside' && isValues(value)) readResource(value, broken, at);
  eachPart(node, value, at, (part, inner, here) => readEmbedded(part, inner, broken, here));
}

function readResource(value: Values, broken: Broken, at: Path | undefined): void {
  for (const field of ['apiVersion', 'kind']) {
    const text = own(value, field);
    if (text === undefined || typeof text === 'string') continue;
    if (broken === 'refuse') throw refusal(at, field, text as JsonValue, 'must be a string');
    delete value[field];
  }
  const metadata = own(value, 'metadata');
  if (metadata === undefined || isNormal(EmbeddedMeta, metadata)) return;
  try {
    value.metadata = decode(EmbeddedMeta, metadata) as Values;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (broken === 'refuse') throw refusal(at, 'metadata', metadata as JsonValue, error.message);
    value.metadata = readable(metadata);
  }
}
function refusal(at: Path | undefined, field: string, value: JsonValue, detail: string): DecodeError {
  return new DecodeError(`${below(at, field)}: Invalid value: ${goValue(value)}: ${detail}`);
}

/** The valid fields of invalid metadata. */
function readable(metadata: unknown): Values {
  let result: Values = {};
  if (!isValues(metadata)) return result;
  for (const key of Object.keys(metadata)) {
    try {
      result = { ...result, ...decode(EmbeddedMeta, { [key]: metadata[key] }) };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return result;
}

export function validateEmbedded(node: ValueNode, value: unknown, errors: FieldErrors, at?: Path): void {
  if (!node.below.resources || typeof value !== 'object' || value === null) return;
  if (node.resource === 'inside' && isValues(value)) validateResource(value, at, errors);
  eachPart(node, value, at, (part, inner, here) => validateEmbedded(part, inner, errors, here));
}

/** A resource must have apiVersion and kind; metadata may be absent. */
function validateResource(value: Values, at: Path | undefined, errors: FieldErrors): void {
  validateApiVersion(own(value, 'apiVersion'), below(at, 'apiVersion'), errors);
  validateKind(own(value, 'kind'), below(at, 'kind'), errors);
  const metadata = own(value, 'metadata');
  if (metadata === undefined) return;
  const here = below(at, 'metadata');
  try {
    const meta = decode(EmbeddedMeta, metadata);
    const withName = meta.name === undefined ? { ...meta, name: 'unnamed' } : meta;
    validateMetadata(withName, { namespaced: meta.namespace !== undefined, nameRule: pathSegmentName }, errors, here);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    errors.add('FieldValueInvalid', here, `Invalid value: ${goValue(metadata as JsonValue)}: ${error.message}`);
  }
}

function validateApiVersion(text: unknown, at: Path, errors: FieldErrors): void {
  if (!isFilled(text, at, errors)) return;
  if (!isApiVersion(text)) errors.invalid(at, text, `unexpected GroupVersion string: ${text}`);
}

function validateKind(text: unknown, at: Path, errors: FieldErrors): void {
  if (!isFilled(text, at, errors)) return;
  const problems = dns1035Label(text.toLowerCase());
  if (problems.length > 0) errors.invalid(at, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

function isFilled(text: unknown, at: Path, errors: FieldErrors): text is string {
  if (text === undefined) errors.required(at, 'must not be empty');
  else if (typeof text !== 'string') errors.invalid(at, text, 'must be a string');
  else if (text === '') errors.invalid(at, text, 'must not be empty');
  else return true;
  return false;
}
