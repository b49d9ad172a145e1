/** How messages are written as JSON text: their fields in the order of the schema. */
import { jsonText } from '@plat-dev/lib/json-text';
import { zeroValue } from '../fields/zero-values.ts';
import { type MessageType, type NamedField, resolve, type Type } from '../types.ts';
import { isInherited, ownOnly } from './plain.ts';
import { isEmpty, toJson } from './to-json.ts';
import { closeBrace, comma, type FieldPlan, type JsonWriter, openBrace, type ValueEncoder } from './writer.ts';

type Values = Record<string, unknown>;
type EncoderOf = (type: Type) => ValueEncoder;
/** Writes the fields of these keys and the end of the object. */
type EncodeOtherFields = (writer: JsonWriter, object: Values, keys: readonly string[], separator: number) => void;

function planField(field: NamedField, at: number, encoderOf: EncoderOf): FieldPlan {
  const resolved = resolve(field.type);
  const pointer = field.nullable === true;
  const zero = zeroValue(field.type);
  const label = `${JSON.stringify(field.name)}:`;
  return {
    name: field.name,
    at,
    label: Buffer.from(label),
    encode: encoderOf(field.type),
    emptyText: field.always ? Buffer.from(label + jsonText(toJson(field.type, pointer ? null : (zero ?? null)))) : undefined,
    zero: field.always || pointer || resolved.node !== 'scalar' || resolved.name === 'json' ? null : resolved.name === 'bytes' ? '' : zero,
    collection: !pointer && (resolved.node === 'list' || resolved.node === 'map'),
  };
}

export function messageEncoder(type: MessageType, encoderOf: EncoderOf, encodeOtherFields: EncodeOtherFields): ValueEncoder {
  // Fields are planned on first use, so that a schema may contain itself.
  let fields: ReadonlyMap<string, FieldPlan> | undefined;
  let always: readonly FieldPlan[] = [];
  const keepsUnknown = type.unknown === 'keep';
  const careful = type.ordered.some((field) => isInherited(field.name));
  return (writer, value) => {
    const object = careful ? ownOnly(value) : (value as Values);
    if (fields === undefined) {
      const plans = type.ordered.map((field, at) => planField(field, at, encoderOf));
      fields = new Map(plans.map((plan) => [plan.name, plan]));
      always = plans.filter((plan) => plan.emptyText !== undefined);
    }
    const { present } = writer;
    const base = present.top;
    present.gather(fields, object);
    const end = present.top;
    let separator = openBrace;
    let next = 0;
    for (let i = base; i < end; i++) {
      const plan = present.plans[i] as FieldPlan;
      const value = present.take(i);
      if (value === plan.zero || (plan.collection && isEmpty(value) && !(writer.showsEmpty && plan.emptyText !== undefined))) continue;
      for (; next < always.length && (always[next] as FieldPlan).at <= plan.at; next++) {
        if (always[next] === plan) continue;
        writer.label(separator, (always[next] as FieldPlan).emptyText as Uint8Array);
        separator = comma;
      }
      writer.label(separator, plan.label);
      separator = comma;
      plan.encode(writer, value);
    }
    present.top = base;
    for (; next < always.length; next++) {
      writer.label(separator, (always[next] as FieldPlan).emptyText as Uint8Array);
      separator = comma;
    }
    if (keepsUnknown) encodeOtherFields(writer, object, keysBeside(fields, object), separator);
    else {
      if (separator === openBrace) writer.byte(openBrace);
      writer.byte(closeBrace);
    }
  };
}

const keysBeside = (fields: ReadonlyMap<string, unknown>, object: Values): string[] =>
  Object.keys(object).filter((key) => !fields.has(key));
