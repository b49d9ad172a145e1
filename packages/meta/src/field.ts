import type { Integer } from '@plat-dev/lib/integers';
import { cut, SHOWN_VALUE, shownJson } from '@plat-dev/lib/message-values';

/**
 * Validation errors and their paths. A path is built during validation, at the cost of one small object per
 * level; its text is made only when an error is reported.
 *
 *   const spec = Path.of('spec');
 *   errors.required(spec.child('containers').index(0).child('name'));
 *   // spec.containers[0].name: Required value
 */
export class Path {
  private readonly parent: Path | undefined;
  /** A name or a number; numbers and keys are in brackets. */
  private readonly step: string | number;
  private readonly bracketed: boolean;

  private constructor(parent: Path | undefined, step: string | number, bracketed: boolean) {
    this.parent = parent;
    this.step = step;
    this.bracketed = bracketed;
  }
  /** A path from the root of the object. */
  static of(...names: string[]): Path {
    let path = new Path(undefined, names[0] ?? '', false);
    for (let i = 1; i < names.length; i++) path = path.child(names[i] as string);
    return path;
  }
  child(name: string): Path {
    return new Path(this, name, false);
  }
  index(i: number): Path {
    return new Path(this, i, true);
  }
  key(key: string): Path {
    return new Path(this, key, true);
  }
  toString(): string {
    const text = this.text();
    // The object as a whole, as a stock server writes it.
    return text === '' ? '[]' : text;
  }
  private text(): string {
    const own = this.bracketed ? `[${this.step}]` : String(this.step);
    if (this.parent === undefined) return own;
    const dot = !this.bracketed && own !== '' && !this.parent.isEmpty();
    return this.parent.text() + (dot ? `.${own}` : own);
  }
  private isEmpty(): boolean {
    return !this.bracketed && this.step === '';
  }
}

/** Maximum errors of one object that are listed; the others show up after these are fixed. */
const MAX_FIELD_ERRORS = 256;

export interface FieldError {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** Values are shown as a stock server prints them: text quoted, numbers and booleans bare, structures as JSON. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return shownJson(value);
}

/** Texts in a message, the beginning of a long list. */
export const quoted = (texts: readonly string[]): string => cut(texts.map((text) => JSON.stringify(text)).join(', '));

/** The reasons of causes, and what they mean. */
export const causeReasons = {
  FieldValueRequired: 'The field must be set.',
  FieldValueInvalid: 'The value is not allowed; the message says why.',
  FieldValueNotSupported: 'The value is none of the supported ones, which the message lists.',
  FieldValueDuplicate: 'Another item of the list has the same key or value.',
  FieldValueForbidden: 'The field may not be set, or not changed, here.',
  FieldValueNotFound: 'What the field names does not exist.',
  FieldValueTooLong: 'The text is longer than its limit.',
  FieldValueTooMany: 'The list is longer than its limit.',
  FieldValueTypeInvalid: 'The value is of another type.',
  InternalError: 'The value could not be checked.',
} as const;

/** Collects all errors of an object; validation never stops at the first. */
export class FieldErrors {
  readonly list: FieldError[] = [];

  get empty(): boolean {
    return this.list.length === 0;
  }
  /** As many errors as are listed: further ones are not formatted. */
  get full(): boolean {
    return this.list.length > MAX_FIELD_ERRORS;
  }
  add(reason: string, path: Path | string, message: string): void {
    if (this.list.length >= MAX_FIELD_ERRORS) {
      if (!this.full)
        this.list.push({
          reason: 'FieldValueTooMany',
          field: '[]',
          message: `more than ${MAX_FIELD_ERRORS} errors: the rest is not listed`,
        });
      return;
    }
    this.list.push({ reason, field: cut(String(path)), message: cut(message, 2 * SHOWN_VALUE) });
  }
  /** Adds the errors of another collector, up to the limit. */
  addAll({ list }: FieldErrors): void {
    for (const error of list) {
      if (this.list.length >= MAX_FIELD_ERRORS) {
        this.add(error.reason, error.field, error.message);
        return;
      }
      this.list.push(error);
    }
  }
  required(path: Path, detail = ''): void {
    this.add('FieldValueRequired', path, detail === '' ? 'Required value' : `Required value: ${detail}`);
  }
  invalid(path: Path, value: unknown, detail: string): void {
    if (this.full) return;
    this.add('FieldValueInvalid', path, `Invalid value: ${show(value)}${detail === '' ? '' : `: ${detail}`}`);
  }
  /** `supported` are the allowed values, or `quoted` of them if it is made once for many errors. */
  notSupported(path: Path, value: unknown, supported: readonly string[] | string): void {
    if (this.full) return;
    const list = typeof supported === 'string' ? supported : quoted(supported);
    this.add('FieldValueNotSupported', path, `Unsupported value: ${show(value)}${list === '' ? '' : `: supported values: ${list}`}`);
  }
  duplicate(path: Path, value: unknown): void {
    if (this.full) return;
    this.add('FieldValueDuplicate', path, `Duplicate value: ${show(value)}`);
  }
  forbidden(path: Path, detail: string): void {
    this.add('FieldValueForbidden', path, `Forbidden: ${detail}`);
  }
  notFound(path: Path, value: unknown): void {
    this.add('FieldValueNotFound', path, `Not found: ${show(value)}`);
  }
  tooLong(path: Path, max: number): void {
    this.add('FieldValueTooLong', path, `Too long: must have at most ${max} bytes`);
  }
  tooMany(path: Path, actual: number, max: Integer): void {
    this.add('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`);
  }
  typeInvalid(path: Path, value: unknown, detail: string): void {
    this.add('FieldValueTypeInvalid', path, `Invalid value: ${show(value)}: ${detail}`);
  }
  internal(path: Path, detail: string): void {
    this.add('InternalError', path, `Internal error: ${detail}`);
  }
}
