/** The error within decoders: it collects its path on the way up, and becomes a DecodeError at the top. */
import type { Integer } from '@plat-dev/lib/integers';
import { DecodeError } from '../errors.ts';
import { resolve, type Type } from '../types.ts';

export class Mismatch {
  readonly actual: string | undefined;
  readonly expected: string | undefined;
  /** The message of a type that parses its text itself. */
  readonly problem: string | undefined;
  /** Steps of the path, innermost first. */
  readonly path: (string | number)[] = [];
  /** Fields of the path, innermost first: a stock server names neither indexes nor keys of maps. */
  private readonly fields: string[] = [];
  private struct: string | undefined;

  constructor(actual?: string, expected?: string, problem?: string) {
    this.actual = actual;
    this.expected = expected;
    this.problem = problem;
  }
  within(key: string): this {
    this.path.push(key);
    return this;
  }
  inField(message: string, field: string): void {
    this.struct ??= message.slice(message.lastIndexOf('.') + 1);
    this.path.push(field);
    this.fields.push(field);
  }
  toError(): DecodeError {
    let path = '';
    for (const step of this.path.reverse()) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
    const where = this.struct === undefined ? 'value' : `struct field ${this.struct}.${this.fields.reverse().join('.')}`;
    const message = this.problem ?? `json: cannot unmarshal ${this.actual} into Go ${where} of type ${this.expected}`;
    return new DecodeError(message, { path, expected: this.expected, actual: this.actual });
  }
}

/** The value cannot be read as the type. */
export function unreadable(value: unknown, type: Type): Mismatch {
  return new Mismatch(jsonTypeOf(value), typeText(type));
}
/** The message names a number that the type cannot hold. */
export function outOfRange(value: Integer, type: Type): Mismatch {
  const digits = Number.isInteger(value) && value < 1e21 && value > -1e21 ? BigInt(value) : value;
  return new Mismatch(`number ${digits}`, typeText(type));
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const scalarTexts: Readonly<Record<string, string>> = {
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  intOrString: 'intstr.IntOrString',
  raw: 'runtime.RawExtension',
  json: 'v1.JSON',
  fieldsV1: 'v1.FieldsV1',
};

/** Scalars whose names look like those of objects. */
export const namedScalars: ReadonlySet<string> = new Set(Object.values(scalarTexts));

/** A type as a stock server names it in its errors: `[]v1.Container`, `map[string]string`. */
export function typeText(type: Type): string {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'scalar':
      return scalarTexts[resolved.name] ?? resolved.name;
    case 'list':
      return `[]${typeText(resolved.item)}`;
    case 'map':
      return `map[string]${typeText(resolved.value)}`;
    default:
      return resolved.name.split('.').slice(-2).join('.');
  }
}
