/** The rows that a table shows, in their order: those that match the filter, sorted by a column. */
import type { Cell, Column, Row } from '../../api/collection.ts';
import type { Steps } from './steps.ts';

export interface Order {
  /** The name of a column. Undefined: by namespace and name. */
  readonly column: string | undefined;
  readonly isDescending: boolean;
}

/** `Age` is ascending, `-Age` is descending. */
export function parseOrder(text: string | null): Order {
  if (text === null || text === '' || text === '-') return { column: undefined, isDescending: false };
  return text.startsWith('-') ? { column: text.slice(1), isDescending: true } : { column: text, isDescending: false };
}
/** A click on a column: ascending, then descending, then none. */
export function nextOrder(order: Order, column: string): string {
  if (order.column !== column) return column;
  return order.isDescending ? '' : `-${column}`;
}

/** The column that rows get in tables of all namespaces, which servers leave to the client. */
export const NAMESPACE_COLUMN = 'Namespace';
/** Ages go on while nothing changes, so they are made here of the time at which an object was created. */
export const isAge = ({ name, type }: Column): boolean => name === 'Age' && type !== 'integer';

const CHUNK = 1000;

/** Filters and sorts. It pauses after each thousand rows. */
export function* arrange(rows: Iterable<Row>, columns: readonly Column[], filter: string, order: Order): Steps<Row[]> {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const keyOf = sortKey(columns, order.column);
  const compare = order.isDescending ? compareDescending : compareRows;
  const chunks: Keyed[][] = [];
  let chunk: Keyed[] = [];
  for (const row of rows) {
    if (!words.every((word) => searchText(row).includes(word))) continue;
    chunk.push({ row, key: keyOf(row) });
    if (chunk.length < CHUNK) continue;
    chunks.push(chunk.sort(compare));
    chunk = [];
    yield;
  }
  chunks.push(chunk.sort(compare));
  const sorted = yield* merged(chunks, compare);
  return sorted.map(({ row }) => row);
}

interface Keyed {
  readonly row: Row;
  readonly key: number | string;
}

type Compare = (a: Keyed, b: Keyed) => number;

/** Rows that are equal have the order of their names, so that none jumps. */
function compareRows(a: Keyed, b: Keyed): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.row.key < b.row.key ? -1 : a.row.key > b.row.key ? 1 : 0;
}
const compareDescending: Compare = (a, b) => (a.key === b.key ? compareRows(a, b) : compareRows(b, a));

function* merged(chunks: Keyed[][], compare: Compare): Steps<Keyed[]> {
  let round = chunks;
  while (round.length > 1) {
    const next: Keyed[][] = [];
    for (let i = 0; i < round.length; i += 2) next.push(yield* mergedPair(round[i] as Keyed[], round[i + 1] ?? [], compare));
    round = next;
  }
  return round[0] ?? [];
}

function* mergedPair(left: readonly Keyed[], right: readonly Keyed[], compare: Compare): Steps<Keyed[]> {
  const result: Keyed[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const a = left[l];
    const b = right[r];
    if (b === undefined || (a !== undefined && compare(a, b) <= 0)) {
      result.push(a as Keyed);
      l++;
    } else {
      result.push(b);
      r++;
    }
    if (result.length % CHUNK === 0) yield;
  }
  return result;
}

function sortKey(columns: readonly Column[], name: string | undefined): (row: Row) => number | string {
  const index = columns.findIndex((column) => column.name === name);
  const column = columns[index];
  if (name === NAMESPACE_COLUMN && column === undefined) return ({ namespace }) => namespace ?? '';
  if (column === undefined) return ({ key }) => key;
  if (isAge(column)) return ({ createdAt }) => (Number.isNaN(createdAt) ? Number.POSITIVE_INFINITY : -createdAt);
  return ({ cells }) => cellKey(cells[index]);
}

const duration = /^(?:\d+[ydhms])+$/;
const unitSeconds = new Map([
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
]);

/** A text whose order is that of the values: numbers within texts count as numbers, and `90s` is less than `2m`. */
export function cellKey(cell: Cell): string {
  const text = cellText(cell);
  if (!duration.test(text)) return text.toLowerCase().replace(/\d+/g, padded);
  const parts = [...text.matchAll(/(\d+)([ydhms])/g)];
  return padded(String(parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitSeconds.get(unit as string) ?? 0), 0)));
}
const padded = (digits: string): string => digits.padStart(16, '0');

export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

function searchText({ key, cells }: Row): string {
  return `${key} ${cells.map(cellText).join(' ')}`.toLowerCase();
}
