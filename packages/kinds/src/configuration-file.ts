/**
 * Configuration files of a server: one object in YAML or JSON, with a kind and a version, whose fields are all known.
 *
 *   const document = readDocument(text, 'AuthenticationConfiguration', ['apiserver.config.k8s.io/v1']);
 *   const fields = new ConfigFields(errors);
 *   fields.object(document.issuer, Path.of('issuer'), ['url'])       { url: … }, or an error at `issuer`
 */
import { didYouMean } from '@plat-dev/lib/suggest';
import { parseDuration } from '@plat-dev/lib/time';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';

/** Maximum size: a configuration has a few kilobytes. */
export const LARGEST_CONFIGURATION = 1024 * 1024;

const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

const shownField = (name: string, value: JsonValue | undefined): string => (typeof value === 'string' ? `${name}: ${value}` : `no ${name}`);

/** Throws an Error. The text of the file is not repeated: it may hold keys. */
export function readDocument(text: string | Buffer, kind: string, versions: readonly string[]): JsonObject {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  if (bytes.length > LARGEST_CONFIGURATION) throw new Error(`the file has more than ${LARGEST_CONFIGURATION} bytes`);
  let document: JsonValue;
  try {
    document = parseYaml(bytes);
  } catch (error) {
    // The parser's own message may quote the line: only its number is passed on.
    const line = /\bline (\d+)/.exec((error as Error).message)?.[1];
    const where = line === undefined ? '' : `: see line ${line}, its indentation and the lines around it`;
    throw new Error(`the file is neither YAML nor JSON${where}`);
  }
  const object = asObject(document) ?? {};
  if (object.kind !== kind || !versions.includes(object.apiVersion as string))
    throw new Error(
      `must have kind: ${kind} and apiVersion: ${versions.join(' or ')}; it has ${shownField('kind', object.kind)} and ${shownField('apiVersion', object.apiVersion)}`,
    );
  return object;
}

/** All errors of a file in one. */
export const configurationError = ({ list }: FieldErrors): Error =>
  new Error(list.map(({ field, message }) => `${field}: ${message}`).join('; '));

/** Reads fields, and notes what is wrong with them. */
export class ConfigFields {
  readonly errors: FieldErrors;

  constructor(errors: FieldErrors) {
    this.errors = errors;
  }

  /** Undefined where there is none; an error where it has other fields. */
  optionalObject(value: JsonValue | undefined, at: Path, fieldNames: readonly string[]): JsonObject | undefined {
    return value === undefined || value === null ? undefined : this.object(value, at, fieldNames);
  }
  object(value: JsonValue | undefined, at: Path, fieldNames: readonly string[]): JsonObject {
    const object = asObject(value);
    if (object === undefined) {
      this.errors.add('FieldValueInvalid', at, 'Invalid value: must be an object');
      return {};
    }
    this.checkFieldNames(object, at, fieldNames);
    return object;
  }
  checkFieldNames(object: JsonObject, at: Path, fieldNames: readonly string[]): void {
    for (const name of Object.keys(object))
      if (!fieldNames.includes(name)) this.errors.forbidden(at.child(name), `unknown field${didYouMean(name, [...fieldNames])}`);
  }
  /** `empty`: what is said where there is nothing in it; absent: it may be empty. */
  list(value: JsonValue | undefined, at: Path, empty?: string): readonly JsonValue[] {
    if (value !== undefined && value !== null && !Array.isArray(value)) {
      this.errors.add('FieldValueInvalid', at, 'Invalid value: must be a list');
      return [];
    }
    if (empty !== undefined && (value === undefined || value === null || value.length === 0)) this.errors.required(at, empty);
    return value ?? [];
  }
  /** The empty text where there is none. */
  text(value: JsonValue | undefined, at: Path): string {
    if (typeof value === 'string') return value;
    if (value !== undefined && value !== null) this.errors.add('FieldValueInvalid', at, 'Invalid value: must be a text');
    return '';
  }
  bool(value: JsonValue | undefined, at: Path, usual: boolean): boolean {
    if (typeof value === 'boolean') return value;
    if (value !== undefined && value !== null) this.errors.add('FieldValueInvalid', at, 'Invalid value: must be true or false');
    return usual;
  }
  /** Milliseconds; undefined where there is none, or an error was noted. */
  duration(value: JsonValue | undefined, at: Path): number | undefined {
    if (value === undefined || value === null) return undefined;
    const millis = millisOf(value);
    if (millis === undefined) this.errors.invalid(at, value, 'must be a duration such as 30s or 5m');
    return millis;
  }
}

/** Undefined where it is no duration. */
export function millisOf(value: JsonValue): number | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return Number(parseDuration(value) / 1_000_000n);
  } catch {
    return undefined;
  }
}
