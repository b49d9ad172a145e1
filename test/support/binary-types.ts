/**
 * The binary form of every built-in kind, read off the recorded type facts (test/recordings/api-facts.json.gz): a codec of its own, which knows nothing of the server's schemas. It writes as clients in Go do: values that are not set are written as
 * zeros, unless the field can be absent.
 */

import { jsonText } from '../../packages/lib/src/json-text.ts';
import { recorded } from '../../packages/lib/src/testing/recordings.testing.ts';
import { baseGroup, type Identity } from '../../packages/meta/src/identity.ts';
import type { Loose } from './client.ts';
import { block, fieldsOf, number, varint } from './wire.ts';

interface FactField {
  /** As JSON has it; of an inline message, what the facts call it. */
  readonly name: string;
  readonly tag: number;
  /** `string`, `core.v1.PodSpec` */
  readonly type: string;
  readonly form: 'one' | 'list' | 'map';
  /** It can be absent, which is not the same as zero. */
  readonly nullable: boolean;
  /** Its own fields stand beside those around it in JSON. */
  readonly inline: boolean;
}
type FactType = readonly FactField[];

const scalars = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);
/** Messages that JSON shows as something else. */
const texts = new Set(['meta.v1.Time', 'meta.v1.MicroTime', 'api.resource.Quantity', 'util.intstr.IntOrString']);
const json = new Set(['runtime.RawExtension', 'meta.v1.FieldsV1', 'apiextensions.v1.JSON']);
/** Either a schema or something else: the tags of both. */
const eitherOr: Readonly<Record<string, { readonly schema: number; readonly other: number }>> = {
  'apiextensions.v1.JSONSchemaPropsOrArray': { schema: 1, other: 2 },
  'apiextensions.v1.JSONSchemaPropsOrBool': { schema: 2, other: 1 },
  'apiextensions.v1.JSONSchemaPropsOrStringArray': { schema: 1, other: 2 },
};
const SCHEMA = 'apiextensions.v1.JSONSchemaProps';

/** Fields that can be absent, of which the facts do not say so: clients in Go hold pointers. */
const absent = new Set(['ref', 'xKubernetesPreserveUnknownFields', 'xKubernetesListType', 'xKubernetesMapType']);

/** Names that differ between JSON and the facts. */
function jsonName(name: string, extensionPrefix: string): string {
  if (name === 'aPIGroup') return 'apiGroup';
  if (name === 'uID') return 'uid';
  if (name === 'Webhooks') return 'webhooks';
  if (name === 'ref' || name === 'schema') return `$${name}`;
  const words = name.replace(/^xKubernetes/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `${extensionPrefix}${words.slice(1)}`;
}

export class BinaryTypes {
  private readonly types = new Map<string, FactType>();
  private readonly identity: Identity;

  constructor(identity: Identity) {
    this.identity = identity;
    const files = [...recorded('api-facts')].flatMap(([path, bytes]) => {
      const home = /^types\/(.+)\.txt$/.exec(path)?.[1];
      return home === undefined ? [] : [[home, bytes.toString('utf8')] as const];
    });
    const known = new Set(files.flatMap(([home, text]) => [...text.matchAll(/^type (\w+)/gm)].map((match) => `${home}.${match[1]}`)));
    for (const [home, text] of files) {
      for (const part of text.split(/^type /m).slice(1)) {
        const [head = '', ...lines] = part.split('\n');
        const fields = lines.flatMap((line) => (/^ {2}\w/.test(line) ? [this.field(line.trim(), home, known)] : []));
        this.types.set(`${home}.${head.split(' ')[0]}`, fields);
      }
    }
  }

  private field(line: string, home: string, known: ReadonlySet<string>): FactField {
    const [given = '', tag, shape = '', ...attributes] = line.split(' ');
    const inner = shape.replace(/^\[(.*)\]$/, '$1').replace(/^map<(.*)>$/, '$1');
    const type = scalars.has(inner)
      ? inner
      : [`${home}.${inner}`, inner, `api.${inner}`, `util.intstr.${inner}`].find((name) => known.has(name));
    if (type === undefined) throw new Error(`${home}: there is no type ${inner}`);
    const hidden = attributes.includes('NOT-IN-JSON');
    const form = shape.startsWith('[') ? 'list' : shape.startsWith('map<') ? 'map' : 'one';
    const inline = hidden && form === 'one' && !scalars.has(type);
    const name = hidden && !inline ? jsonName(given, this.identity.schemaExtensionPrefix) : given;
    return { name, tag: Number(tag), type, form, nullable: attributes.includes('nullable') || absent.has(given), inline };
  }

  /** `apps/v1`, `Deployment` → `apps.v1.Deployment`; kinds of every version are of the meta group. */
  typeOf(apiVersion: string, kind: string): string {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? 'core' : (baseGroup(this.identity, apiVersion.slice(0, slash)) ?? '').split('.')[0];
    const own = `${group}.${apiVersion.slice(slash + 1)}.${kind}`;
    if (this.types.has(own)) return own;
    if (this.types.has(`meta.v1.${kind}`)) return `meta.v1.${kind}`;
    throw new Error(`no facts about ${apiVersion} ${kind}`);
  }

  // ---- JSON to bytes ---------------------------------------------------------------------------------------------

  encode(type: string, value: Loose): Buffer {
    const parts: Buffer[] = [];
    for (const field of this.fieldsOf(type)) {
      if (field.inline) {
        parts.push(block(field.tag, this.encode(field.type, value)));
        continue;
      }
      const given = value?.[field.name] ?? undefined;
      if (field.form === 'list') for (const item of given ?? []) parts.push(this.one(field.tag, field.type, item));
      else if (field.form === 'map') {
        for (const [key, item] of Object.entries(given ?? {})) parts.push(block(field.tag, block(1, key), this.one(2, field.type, item)));
      } else if (given !== undefined) parts.push(this.one(field.tag, field.type, given));
      else if (!field.nullable) parts.push(this.zero(field.tag, field.type));
    }
    return Buffer.concat(parts);
  }

  private zero(tag: number, type: string): Buffer {
    if (type === 'bool' || type === 'int32' || type === 'int64') return number(tag, 0);
    if (type === 'double') return Buffer.concat([varint(tag * 8 + 1), Buffer.alloc(8)]);
    if (type === 'bytes') return Buffer.alloc(0);
    if (type === 'string' || type.startsWith('meta.v1.Time') || json.has(type) || type in eitherOr) return block(tag);
    if (type === 'api.resource.Quantity') return block(tag, block(1, '0'));
    if (type === 'util.intstr.IntOrString') return this.one(tag, type, 0);
    return texts.has(type) ? block(tag) : block(tag, this.encode(type, {}));
  }

  private one(tag: number, type: string, value: Loose): Buffer {
    if (value === null) return this.zero(tag, type);
    switch (type) {
      case 'string':
        return block(tag, String(value));
      case 'bool':
        return number(tag, value ? 1 : 0);
      case 'int32':
      case 'int64':
        return number(tag, BigInt(value));
      case 'double': {
        const bytes = Buffer.alloc(8);
        bytes.writeDoubleLE(value);
        return Buffer.concat([varint(tag * 8 + 1), bytes]);
      }
      case 'bytes':
        return block(tag, Buffer.from(value, 'base64'));
      case 'meta.v1.Time':
      case 'meta.v1.MicroTime':
        return block(tag, number(1, Math.floor(Date.parse(value) / 1000)), number(2, nanosIn(value)));
      case 'api.resource.Quantity':
        return block(tag, block(1, String(value)));
      case 'util.intstr.IntOrString': {
        const text = typeof value === 'string';
        return block(tag, number(1, text ? 1 : 0), number(2, text ? 0 : value), block(3, text ? value : ''));
      }
      default:
        return block(tag, this.message(type, value));
    }
  }

  private message(type: string, value: Loose): Buffer {
    if (json.has(type)) return block(1, jsonText(value));
    const either = eitherOr[type];
    if (either !== undefined) {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        return Buffer.concat([...(either.other === 1 ? [number(1, 1)] : []), block(either.schema, this.encode(SCHEMA, value))]);
      if (typeof value === 'boolean') return number(either.other, value ? 1 : 0);
      return Buffer.concat(value.map((item: Loose) => block(either.other, typeof item === 'string' ? item : this.encode(SCHEMA, item))));
    }
    return this.encode(type, this.isItems(type) ? { items: value } : value);
  }

  // ---- bytes to JSON ---------------------------------------------------------------------------------------------

  /** Every field that was written, as JSON has it. Throws for fields that the facts do not know. */
  decode(type: string, bytes: Buffer): Loose {
    const out: Loose = {};
    const fields = this.fieldsOf(type);
    for (const { tag, value } of fieldsOf(bytes)) {
      const field = fields.find((one) => one.tag === tag);
      if (field === undefined) throw new Error(`${type} has no field ${tag}`);
      if (field.inline) Object.assign(out, this.decode(field.type, value as Buffer));
      else if (field.form === 'list') {
        out[field.name] ??= [];
        out[field.name].push(this.value(field.type, value));
      } else if (field.form === 'map') {
        const entry = new Map(fieldsOf(value as Buffer).map((part) => [part.tag, part.value]));
        out[field.name] ??= {};
        out[field.name][String(entry.get(1) ?? '')] = this.value(field.type, entry.get(2) ?? Buffer.alloc(0));
      } else out[field.name] = this.value(field.type, value);
    }
    return out;
  }

  private value(type: string, value: bigint | Buffer): Loose {
    if (typeof value === 'bigint') return type === 'bool' ? value !== 0n : Number(BigInt.asIntN(64, value));
    if (type === 'string') return value.toString();
    if (type === 'bytes') return value.toString('base64');
    if (type === 'double') return value.readDoubleLE();
    if (json.has(type)) {
      const raw = fieldsOf(value).find(({ tag }) => tag === 1)?.value as Buffer | undefined;
      return raw === undefined || raw.length === 0 ? null : JSON.parse(raw.toString());
    }
    if (texts.has(type)) return this.text(type, new Map(fieldsOf(value).map((part) => [part.tag, part.value])));
    const either = eitherOr[type];
    if (either !== undefined) return this.eitherValue(type, either, value);
    const message = this.decode(type, value);
    return this.isItems(type) ? (message.items ?? []) : message;
  }

  private text(type: string, parts: ReadonlyMap<number, bigint | Buffer>): Loose {
    if (type === 'api.resource.Quantity') return String(parts.get(1) ?? '0');
    if (type === 'util.intstr.IntOrString')
      return parts.get(1) === 1n ? String(parts.get(3) ?? '') : Number(BigInt.asIntN(32, (parts.get(2) as bigint) ?? 0n));
    if (parts.size === 0) return null;
    const seconds = Number(BigInt.asIntN(64, (parts.get(1) as bigint) ?? 0n));
    const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
    const micros = String(Math.floor(Number(parts.get(2) ?? 0n) / 1000)).padStart(6, '0');
    return type === 'meta.v1.Time' ? `${whole}Z` : `${whole}.${micros}Z`;
  }

  private eitherValue(type: string, either: { readonly schema: number; readonly other: number }, bytes: Buffer): Loose {
    const parts = fieldsOf(bytes);
    const schema = parts.find(({ tag }) => tag === either.schema)?.value as Buffer | undefined;
    if (schema !== undefined) return this.decode(SCHEMA, schema);
    if (type.endsWith('OrBool')) return parts.some(({ value }) => value === 1n);
    const others = parts.flatMap(({ tag, value }) => (tag === either.other ? [value as Buffer] : []));
    return others.map((other) => (type.endsWith('OrStringArray') ? other.toString() : this.decode(SCHEMA, other)));
  }

  // ---- comparing -------------------------------------------------------------------------------------------------

  /**
   * An object without what the two forms write differently: fields that cannot be absent and hold zero. Throws for fields that the
   * facts do not know.
   */
  plain(type: string, value: Loose): Loose {
    const out: Loose = {};
    const fields = new Map(this.allFields(type).map((field) => [field.name, field]));
    for (const [name, given] of Object.entries(value ?? {})) {
      if (name === 'kind' || name === 'apiVersion') if (!fields.has(name)) continue;
      const field = fields.get(name);
      if (field === undefined) throw new Error(`${type} has no field ${name}`);
      const shown = this.plainField(field, given);
      if (shown !== undefined) out[name] = shown;
    }
    return out;
  }

  private plainField({ type, form, nullable }: FactField, given: Loose): Loose {
    if (given === null || given === undefined) return undefined;
    if (form === 'list') return given.length === 0 ? undefined : given.map((item: Loose) => this.plainValue(type, item));
    if (form === 'map') {
      const entries = Object.entries(given).map(([key, item]) => [key, this.plainValue(type, item)]);
      return entries.length === 0 ? undefined : Object.fromEntries(entries);
    }
    const value = this.plainValue(type, given);
    if (nullable) return value;
    if (value === '' || value === 0 || value === false || (type === 'api.resource.Quantity' && value === '0')) return undefined;
    return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value;
  }

  private plainValue(type: string, given: Loose): Loose {
    if (scalars.has(type) || texts.has(type) || json.has(type) || this.isItems(type)) return given;
    if (!(type in eitherOr)) return this.plain(type, given);
    if (Array.isArray(given)) return given.map((item) => (typeof item === 'string' ? item : this.plain(SCHEMA, item)));
    return typeof given === 'object' ? this.plain(SCHEMA, given) : given;
  }

  private allFields(type: string): FactField[] {
    return this.fieldsOf(type).flatMap((field) => (field.inline ? this.allFields(field.type) : [field]));
  }
  /** A list that is a type of its own. */
  private isItems(type: string): boolean {
    const fields = this.types.get(type);
    return fields?.length === 1 && fields[0]?.name === 'items' && fields[0].type === 'string';
  }
  private fieldsOf(type: string): FactType {
    const fields = this.types.get(type);
    if (fields === undefined) throw new Error(`there is no type ${type}`);
    return fields;
  }
}

/** Nanoseconds of a time that is written with fractions. */
const nanosIn = (time: string): number => Number((/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0'));
