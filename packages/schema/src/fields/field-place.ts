/**
 * Field validation walks a value together with its type: either the text while a parser reads it, since only a parser sees repeated
 * keys, or the parsed value. Decoding does neither.
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { type JsonValue, type ResolvedType, resolve, type Type } from '../types.ts';
import { fieldOf } from './field-by-name.ts';
import { FieldFaults, fieldPath } from './field-faults.ts';

/** A place in a text that a parser reads. */
export interface ParserPlace {
  /**
   * A key of the object at this place: `repeated` if it came before; `at` is where its value begins in the text. Returns the
   * place of the value, or undefined if it is not validated.
   */
  field(key: string, repeated: boolean, text: string, at: number): ParserPlace | undefined;
  item(index: number): ParserPlace | undefined;
}

/** The type of a value; `any`: every field is known, and only repeated fields are faults. */
type WalkedType = ResolvedType | 'any';

/** A place with a type. Fields of a message that the type does not name are reported as unknown, also if they are repeated. */
export class FieldPlace implements ParserPlace {
  private readonly faults: FieldFaults;
  private readonly type: WalkedType;
  /** Prefix of each message: `json patch `. */
  private readonly prefix: string;
  private readonly above: FieldPlace | undefined;
  private readonly step: string | number;

  private constructor(faults: FieldFaults, type: WalkedType, prefix: string, above: FieldPlace | undefined, step: string | number) {
    this.faults = faults;
    this.type = type;
    this.prefix = prefix;
    this.above = above;
    this.step = step;
  }

  /** The beginning of a value of a type. Objects whose unknown fields are kept have `unknownFields` of their own (`kinds/kind.ts`). */
  static root(faults: FieldFaults, type: Type, prefix = ''): FieldPlace {
    const resolved = resolve(type);
    return new FieldPlace(faults, keepsUnknown(resolved) ? 'any' : openOr(resolved), prefix, undefined, '');
  }
  /** A part of an object without a declared type. */
  static at(faults: FieldFaults, steps: readonly (string | number)[], type: Type): FieldPlace {
    let place: FieldPlace | undefined;
    for (const step of ['', ...steps]) place = new FieldPlace(faults, resolve(type), '', place, step);
    return place as FieldPlace;
  }

  field(key: string, repeated: boolean): FieldPlace | undefined {
    const { type } = this;
    const below = type === 'any' ? type : this.fieldType(objectIn(type), key);
    if (below === undefined) return undefined;
    if (repeated) this.report('duplicate', key);
    return this.below(below, key);
  }
  private fieldType(type: ResolvedType, key: string): ResolvedType | undefined {
    if (type.node === 'map') return resolve(type.value);
    if (type.node !== 'message') return undefined;
    const field = fieldOf(type, key);
    if (field !== undefined) return resolve(field.type);
    if (!keepsUnknown(type)) this.report('unknown', key);
    return undefined;
  }

  item(index: number): FieldPlace | undefined {
    const { type } = this;
    return this.below(type === 'any' ? type : itemIn(type), index);
  }
  private below(type: WalkedType | undefined, step: string | number): FieldPlace | undefined {
    const walked = type === undefined || type === 'any' ? type : openOr(type);
    if (walked === undefined || (walked !== 'any' && walked.node === 'scalar')) return undefined;
    return new FieldPlace(this.faults, walked, this.prefix, this, step);
  }

  private report(what: 'unknown' | 'duplicate', key: string): void {
    if (!this.faults.accepts()) return;
    const steps: (string | number)[] = [];
    for (let place: FieldPlace = this; place.above !== undefined; place = place.above) steps.push(place.step);
    this.faults.add(`${this.prefix}${what} field ${JSON.stringify(fieldPath(steps.reverse(), key))}`);
  }
}

const keepsUnknown = (type: ResolvedType): boolean => type.node === 'message' && type.unknown === 'keep';
/** `any` for a scalar that may hold any value; other scalars are not walked, even those that hold objects. */
const openOr = (type: ResolvedType): WalkedType => (type.node === 'scalar' && type.open === true ? 'any' : type);
/** The type of a value that is an object. */
const objectIn = (type: ResolvedType): ResolvedType => (type.node === 'union' ? resolve(type.object.type) : type);
function itemIn(type: ResolvedType): ResolvedType | undefined {
  const list = type.node === 'union' ? resolve(type.other.type) : type;
  return list.node === 'list' ? resolve(list.item) : undefined;
}

/** Reports repeated keys of YAML text by the line of their value, as parsers of YAML do. */
export class RepeatedKeys implements ParserPlace {
  private readonly faults: FieldFaults;
  // The offset up to which lines were counted: faults are found in the order of the text.
  private counted = 0;
  private line = 1;

  constructor(faults: FieldFaults) {
    this.faults = faults;
  }
  field(key: string, repeated: boolean, text: string, at: number): ParserPlace {
    if (repeated && this.faults.accepts()) {
      this.faults.addLine(`line ${this.lineAt(text, at)}: key ${JSON.stringify(fieldPath([], key))} already set in map`);
    }
    return this;
  }
  item(): ParserPlace {
    return this;
  }
  private lineAt(text: string, at: number): number {
    if (at < this.counted) {
      this.counted = 0;
      this.line = 1;
    }
    for (let i = text.indexOf('\n', this.counted); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) this.line++;
    this.counted = at;
    return this.line;
  }
}

/** Values after which the walk yields; a power of two. */
const VALUES_A_STEP = 256;

/** Reports the unknown fields of a parsed value. `sorted`: objects in the order of their keys, as YAML is read. */
export function unknownFields(place: FieldPlace, value: JsonValue, sorted = false): Work<void> {
  return new FieldWalk(sorted).walk(place, value);
}

/** The unknown fields of a small value, as texts. */
export function unknownFieldsIn(type: Type, value: JsonValue): readonly string[] {
  const faults = new FieldFaults();
  atOnce(unknownFields(FieldPlace.root(faults, type), value));
  return faults.texts;
}

/** Reports the unknown fields of an object by its schema, or by its kind if that keeps all fields. */
export function unknownFieldsOf(
  kind: { readonly schema: Type; readonly unknownFields?: ((value: JsonValue, faults: FieldFaults) => Work<void>) | undefined },
  value: JsonValue,
  faults: FieldFaults,
  sorted = false,
): Work<void> {
  return kind.unknownFields?.(value, faults) ?? unknownFields(FieldPlace.root(faults, kind.schema), value, sorted);
}

class FieldWalk {
  private readonly sorted: boolean;
  private values = 0;

  constructor(sorted: boolean) {
    this.sorted = sorted;
  }
  *walk(place: FieldPlace, value: JsonValue): Work<void> {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const item = value[i] as JsonValue;
        if ((++this.values & (VALUES_A_STEP - 1)) === 0) yield;
        if (typeof item !== 'object' || item === null) continue;
        const below = place.item(i);
        if (below === undefined) return;
        yield* this.walk(below, item);
      }
      return;
    }
    const keys = Object.keys(value);
    if (this.sorted) keys.sort();
    for (const key of keys) {
      if ((++this.values & (VALUES_A_STEP - 1)) === 0) yield;
      const below = place.field(key, false);
      const inner = value[key] as JsonValue;
      if (below !== undefined && typeof inner === 'object' && inner !== null) yield* this.walk(below, inner);
    }
  }
}
