/**
 * The Table of a custom kind: the name, then the columns of its definition. A cell has the type that its column
 * declares; a value of another type leaves it empty, except that every value can be shown as text.
 */

import type { CustomResourceColumnDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import { nameCell } from '@plat-dev/kinds/cells';
import { nameColumn } from '@plat-dev/kinds/columns';
import type { ApiObject, Cell, Column, KindDefinition, KindEnv } from '@plat-dev/kinds/kind';
import { isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { cut } from '@plat-dev/lib/message-values';
import { ageAt } from '@plat-dev/meta/age';
import { type JsonPath, JsonPathError, jsonPath, type PathEffort } from '@plat-dev/meta/json-path';
import { TimeError } from '@plat-dev/meta/time';

type Shown = Required<Pick<KindDefinition<ApiObject>, 'columns' | 'cells'>>;

/** The column of a definition without columns, after the name. */
const age: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'When the object was made.',
  jsonPath: '.metadata.creationTimestamp',
};

/** Limit of characters of a cell: many columns may show the same long value. */
export const CELL_CHARACTERS = 16 * 1024;
/** Limit of values that are visited or printed for one row; the remaining cells stay empty. */
const ROW_EFFORT = 100_000;
/** Characters of a cell that count as one value. */
const CHARACTERS_A_STEP = 4;

export function customColumns(definitions: readonly CustomResourceColumnDefinition[] | undefined): Shown {
  const columnDefinitions = definitions === undefined || definitions.length === 0 ? [age] : definitions;
  const readable = withPaths(columnDefinitions);
  const columns: Column[] = [nameColumn, ...readable.map(({ definition }) => columnOf(definition))];
  return {
    columns,
    cells: (object, env) => {
      const row = { effort: ROW_EFFORT };
      const cells: Cell[] = [nameCell(object)];
      for (const { definition, path } of readable) cells.push(row.effort < 0 ? null : cellOf(definition.type, path(object, row), env, row));
      return cells;
    },
  };
}

interface Readable {
  readonly definition: CustomResourceColumnDefinition;
  readonly path: JsonPath;
}

/** A stored definition may have an invalid path: the columns before it are shown, as in a stock server. */
function withPaths(definitions: readonly CustomResourceColumnDefinition[]): Readable[] {
  const readable: Readable[] = [];
  for (const definition of definitions) {
    try {
      readable.push({ definition, path: jsonPath(definition.jsonPath) });
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      break;
    }
  }
  return readable;
}

const columnOf = ({ name, type, format, description, priority, jsonPath: path }: CustomResourceColumnDefinition): Column => ({
  name,
  type: type as Column['type'],
  ...(format !== undefined && { format }),
  description: description || `Column of a custom resource definition (a JSONPath): ${path}`,
  ...(priority !== undefined && { priority }),
});

/** Of several values the first is shown. */
function cellOf(type: string, cellValues: readonly unknown[], env: KindEnv, row: PathEffort): Cell {
  if (cellValues.length === 0) return null;
  const [value] = cellValues;
  switch (type) {
    case 'string': {
      const text = textOf(value, row);
      row.effort -= Math.trunc(text.length / CHARACTERS_A_STEP);
      return text;
    }
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return isNumeric(value) ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, env.now()) : null;
    default:
      return null;
  }
}

function textOf(value: unknown, row: PathEffort): string {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return new SortedJson(row).of(value);
  return typeof value === 'number' ? numberText(value) : cut(String(value), CELL_CHARACTERS);
}

/** Numbers in Go's notation: very small ones get an exponent earlier than in JavaScript, with at least two digits. */
function numberText(value: number): string {
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** JSON with sorted keys and HTML characters escaped, cut at the limit. */
class SortedJson {
  private text = '';
  private readonly row: PathEffort;

  constructor(row: PathEffort) {
    this.row = row;
  }
  of(value: object): string {
    this.add(value);
    return this.isFull ? `${this.text.slice(0, CELL_CHARACTERS)}...` : this.text;
  }
  private get isFull(): boolean {
    return this.text.length > CELL_CHARACTERS || this.row.effort < 0;
  }
  private add(value: unknown): void {
    this.row.effort--;
    if (Array.isArray(value)) this.addList(value);
    else if (typeof value === 'object' && value !== null) this.addObject(value);
    else this.text += plainJson(typeof value === 'string' ? value.slice(0, CELL_CHARACTERS) : value);
  }
  private addList(list: readonly unknown[]): void {
    this.text += '[';
    for (let i = 0; i < list.length && !this.isFull; i++) {
      if (i > 0) this.text += ',';
      this.add(list[i]);
    }
    this.text += ']';
  }
  private addObject(object: object): void {
    const entries = Object.entries(object);
    this.row.effort -= entries.length;
    if (this.row.effort < 0) return;
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    this.text += '{';
    for (let i = 0; i < entries.length && !this.isFull; i++) {
      const [key, item] = entries[i] as [string, unknown];
      this.text += `${i > 0 ? ',' : ''}${plainJson(key.slice(0, CELL_CHARACTERS))}:`;
      this.add(item);
    }
    this.text += '}';
  }
}
const plainJson = (value: unknown): string =>
  jsonText(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

function ageOf(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>';
  try {
    return ageAt(now, text);
  } catch (error) {
    if (error instanceof TimeError) return '<invalid>';
    throw error;
  }
}
