/** The explanation of a type in the layout of the stock client, which scripts and eyes are used to. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { printable } from '../output/print-table.ts';
import type { Schema, Schemas } from './explain-schema.ts';

const WIDTH = 80;
const DESCRIPTION_INDENT = 5;
const FIELD_INDENT = 3;
const FIELD_DESCRIPTION_INDENT = 2;

export function stockExplanation(
  schemas: Schemas,
  resource: ApiResource,
  fields: readonly string[],
  schema: Schema,
  recursive: boolean,
): string {
  const out: string[] = [`KIND:     ${resource.kind}\n`, `VERSION:  ${apiVersionOf(resource)}\n\n`];
  const descriptions: string[] = [];
  const { end, type } = descend(schemas, schema, descriptions);
  const isObject = end.properties !== undefined;
  const isArbitrary = !isObject && typeName(schemas, end) === '';
  const name = fields.at(-1);
  if (name !== undefined && !isArbitrary) out.push(`${isObject ? 'RESOURCE:' : 'FIELD:   '} ${printable(name)} <${type}>\n\n`);
  out.push('DESCRIPTION:\n');
  const paragraphs = descriptions.flatMap((text, i) => (text === '' ? [] : [`${i === 0 ? '' : '\n'}${wrapped(text, DESCRIPTION_INDENT)}`]));
  out.push(...(paragraphs.length > 0 ? paragraphs : [wrapped('<empty>', DESCRIPTION_INDENT)]));
  if (isObject) {
    out.push('\nFIELDS:\n');
    if (recursive) printTree(schemas, end, FIELD_INDENT, new Set(), out);
    else printFields(schemas, end, out);
  }
  return out.join('');
}

/** Through references, lists and maps; the description of each on the way is kept. */
function descend(schemas: Schemas, schema: Schema, descriptions: string[]): { end: Schema; type: string } {
  const type = typeName(schemas, schema);
  let at = schema;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    descriptions.push(at.description ?? '');
    const next = schemas.referred(at) ?? at.items ?? elementOf(at);
    if (next === undefined || (at.properties !== undefined && schemas.referred(at) === undefined)) return { end: at, type };
    at = next;
  }
  return { end: at, type };
}
/** Deeper than any type. */
const MAX_DEPTH = 40;

/** The type of the values of a map; an object without fields is a map of anything. */
function elementOf(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return undefined;
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  return schema.type === 'object' ? {} : undefined;
}

function typeName(schemas: Schemas, schema: Schema): string {
  const referred = schemas.referred(schema);
  if (referred !== undefined) return typeName(schemas, referred);
  if (schema.items !== undefined) return `[]${typeName(schemas, schema.items)}`;
  if (schema.properties !== undefined) return 'Object';
  const value = elementOf(schema);
  if (value !== undefined) return `map[string]${typeName(schemas, value)}`;
  // What may be a number or a text is a text in the older documents.
  const isEither = schema.format === 'int-or-string' || schema.oneOf !== undefined || schema.anyOf !== undefined;
  return isEither ? 'string' : (schema.type ?? '');
}

function printFields(schemas: Schemas, schema: Schema, out: string[]): void {
  for (const [name, field] of sortedFields(schema)) {
    const required = schema.required?.includes(name) ? ' -required-' : '';
    out.push(`${' '.repeat(FIELD_INDENT)}${printable(name)}\t<${typeName(schemas, field)}>${required}\n`);
    out.push(wrapped(field.description ?? '', FIELD_INDENT + FIELD_DESCRIPTION_INDENT), '\n');
  }
}
/** `within`: references that are being shown; one that holds itself is not opened again. */
function printTree(schemas: Schemas, schema: Schema, indent: number, within: ReadonlySet<string>, out: string[]): void {
  for (const [name, field] of sortedFields(schema)) {
    out.push(`${' '.repeat(indent)}${printable(name)}\t<${typeName(schemas, field)}>\n`);
    let at: Schema | undefined = field;
    let opened = within;
    for (let depth = 0; at !== undefined && at.properties === undefined && depth < MAX_DEPTH; depth++) {
      const reference = schemas.referenceOf(at);
      if (reference !== undefined && opened.has(reference)) at = undefined;
      else {
        if (reference !== undefined) opened = new Set([...opened, reference]);
        at = schemas.referred(at) ?? at.items ?? elementOf(at);
      }
    }
    if (at !== undefined) printTree(schemas, at, indent + FIELD_INDENT, opened, out);
  }
}
const sortedFields = ({ properties = {} }: Schema): [string, Schema][] =>
  Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Words in lines; empty lines, lists and code stay as they are. */
function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  let words: string[] = [];
  const flush = (): void => {
    if (words.length > 0) lines.push(words.join(' '));
    words = [];
  };
  for (const part of text.split('\n')) {
    const plain = part.trim();
    if (part.startsWith('    ')) {
      flush();
      lines.push(part);
      continue;
    }
    if (lines.length > 0 && plain === '') {
      flush();
      lines.push('');
      continue;
    }
    if (words.at(-1)?.endsWith(':') || plain === '' || /^(\d+\.?|-|\*)\s/.test(plain)) flush();
    for (const word of plain.split(/\s+/).filter((one) => one !== '')) {
      if (words.length > 0 && [...words, word].join(' ').length > WIDTH - indent) flush();
      words.push(word);
    }
  }
  flush();
  return lines.map((line) => (line === '' ? '\n' : `${' '.repeat(indent)}${printable(line)}\n`)).join('');
}
