/** The store file as pages; `pages.ts` describes them. Numbers are little-endian. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export const HEADER = 24;
export const NODE = 8;
export const TREE = 48;
/** A node whose data is on pages of its own. */
export const BIG = 1;
/** The tree of free pages; its keys are numbers in native byte order. */
export const FREE_TABLE = 'free pages';
const [MAGIC, DATABASE_VERSION] = [0xbeefc0de, 2];

export interface Tree {
  readonly name: string;
  readonly depth: number;
  readonly entries: number;
  readonly root: number;
}
/** The position of a row: the page, and the offset of its node within. */
export interface RowPlace {
  readonly page: number;
  readonly node: number;
}

/** Reads rows at known positions, one by one. */
export class RowReader {
  readonly #file: Pages;
  constructor(path: string) {
    this.#file = new Pages(openSync(path, 'r'));
    this.#file.readMeta(() => {});
  }
  read({ page, node }: RowPlace): Buffer {
    const bytes = this.#file.page(page);
    const size = bytes.readUInt16LE(node) + bytes.readUInt16LE(node + 2) * 2 ** 16;
    const start = node + NODE + bytes.readUInt16LE(node + 6);
    if ((bytes.readUInt16LE(node + 4) & BIG) === 0) return bytes.subarray(start, start + size);
    return this.#file.read(number(bytes, start) * this.#file.pageSize + HEADER, size);
  }
  close(): void {
    closeSync(this.#file.descriptor);
  }
}

type Report = (page: number, table: string, message: string) => void;

/** The file as pages, and its meta page. */
export class Pages {
  readonly descriptor: number;
  readonly size: number;
  pageSize = 4096;
  /** Pages that the file should have. */
  count = 0;
  transaction = 0;
  trees: Tree[] = [];

  constructor(descriptor: number) {
    this.descriptor = descriptor;
    this.size = fstatSync(descriptor).size;
  }

  /** Two meta pages describe the file, and the library uses the newer one. Returns false when neither is valid. */
  readMeta(report: Report): boolean {
    const first = this.read(0, 8192);
    const sizeOf = (meta: Buffer): number => meta.readUInt32LE(HEADER + 24);
    const isSize = (size: number): boolean => size >= 512 && size <= 65_536 && (size & (size - 1)) === 0;
    if (isSize(sizeOf(first)) && metaProblem(first, 0) === undefined) this.pageSize = sizeOf(first);
    const second = this.read(this.pageSize, 4096);
    const metas: Buffer[] = [];
    for (const [page, meta] of [first, second].entries()) {
      const problem =
        metaProblem(meta, page) ??
        (sizeOf(meta) === this.pageSize
          ? undefined
          : `the size of pages is ${sizeOf(meta)} in one of two places and ${this.pageSize} in the other`);
      if (problem === undefined) metas.push(meta);
      else report(page, '', problem);
    }
    metas.sort((a, b) => number(b, HEADER + 128) - number(a, HEADER + 128));
    const [meta] = metas;
    if (meta === undefined) return false;
    this.count = number(meta, HEADER + 120) + 1;
    this.transaction = number(meta, HEADER + 128);
    this.trees = [treeAt(meta, HEADER + 24, FREE_TABLE), treeAt(meta, HEADER + 24 + TREE, '')];
    if (this.count * this.pageSize <= this.size) return true;
    report(0, '', `the last page is ${this.count - 1}, and the file has ${this.size} bytes`);
    this.count = Math.floor(this.size / this.pageSize);
    return true;
  }

  /** The newest transaction in the file. */
  transactionNow(): number {
    this.readMeta(() => {});
    return this.transaction;
  }

  page(page: number): Buffer {
    return this.read(page * this.pageSize, this.pageSize);
  }

  read(offset: number, length: number, into: Buffer = Buffer.allocUnsafe(length)): Buffer {
    const bytes = into.length === length ? into : into.subarray(0, length);
    const read = readSync(this.descriptor, bytes, 0, length, offset);
    return read === length ? bytes : bytes.fill(0, read);
  }
}

function metaProblem(meta: Buffer, page: number): string | undefined {
  if (meta.readUInt32LE(HEADER) !== MAGIC) return 'it does not begin as a page that describes the file';
  if (meta.readUInt16LE(HEADER + 4) !== DATABASE_VERSION) return `it has the database format ${meta.readUInt16LE(HEADER + 4)}`;
  if (number(meta, 0) !== page) return 'it has the number of another page';
  return undefined;
}

export const keyAt = (page: Buffer, place: number): Buffer => page.subarray(place + NODE, place + NODE + page.readUInt16LE(place + 6));
export const number = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;

export const treeAt = (bytes: Buffer, at: number, name: string): Tree => ({
  name,
  depth: bytes.readUInt16LE(at + 6),
  entries: number(bytes, at + 32),
  root: number(bytes, at + 40),
});

/** Offsets of nodes that are within a page, even if the rest of it is wrong. */
export function soundPlaces(page: Buffer): number[] {
  const lower = page.readUInt16LE(20);
  const isSound = lower % 2 === 0 && lower > 0 && lower <= page.length - HEADER;
  const places: number[] = [];
  let end = isSound ? HEADER + lower : page.length;
  for (let at = HEADER; at + 2 <= end; at += 2) {
    const place = page.readUInt16LE(at) + HEADER;
    const isWithin = place > at && place + NODE <= page.length && place + NODE + page.readUInt16LE(place + 6) <= page.length;
    if (isWithin) {
      places.push(place);
      // Nodes follow the list of their offsets.
      end = Math.min(end, place);
    } else if (!isSound) break;
  }
  return places;
}

/** Whether the key at one offset precedes that at another. */
export function isBefore(page: Buffer, a: number, aSize: number, b: number, bSize: number): boolean {
  const size = Math.min(aSize, bSize);
  for (let i = 0; i < size; i++) {
    const difference = (page[a + i] as number) - (page[b + i] as number);
    if (difference !== 0) return difference < 0;
  }
  return aSize < bSize;
}
