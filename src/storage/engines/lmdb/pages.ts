/**
 * Walks the pages of the store file without the database library, which crashes or goes round in circles on some that are
 * damaged: it trusts what stands in them. Before a file is opened, every page that its trees lead to is looked at; verify and
 * repair read rows in the same way.
 *
 *   page     number(8) transaction(8) pad(2) flags(2) lower(2) upper(2) places of nodes(2 each) … nodes
 *   node     low(2) high(2) flags(2) key size(2) key data        leaf: low, high = size of the data
 *                                                                branch: low, high, flags = number of the page below
 *   meta     magic(4) version(4) address(8) map size(8) free tree(48) main tree(48) last page(8) transaction(8)
 *   tree     pad(4) flags(2) depth(2) branch, leaf and overflow pages(8 each) entries(8) root(8)
 *
 * Numbers are little-endian. Large data stands on pages of its own, which the node names: number(8) transaction(8) pages(8).
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const HEADER = 24;
const NODE = 8;
const TREE = 48;
const [BRANCH, LEAF] = [1, 2];
const [BIG, TREE_NODE] = [1, 2];
const NO_PAGE = 2 ** 64;
/** The tree of pages that are free; its keys are numbers in the order of the machine. */
const FREE = 'free pages';
/** Pages that are read at a time where they stand side by side. */
const RUN = 256;
/** Problems that are named; what is further wrong is not looked at. */
const MOST_PROBLEMS = 100;

export interface PageProblem {
  readonly page: number;
  readonly offset: number;
  /** Table that the page belongs to; empty for those of the file itself. */
  readonly table: string;
  readonly message: string;
}
export interface PageWalk {
  readonly problems: readonly PageProblem[];
  /** Rows that were found, by table. */
  readonly rows: ReadonlyMap<string, number>;
}
/** Called for each row of a table. The buffers must be copied by whoever keeps them. */
export type Visit = (table: string, key: Buffer, value: Buffer) => void;

interface Tree {
  readonly name: string;
  readonly depth: number;
  readonly entries: number;
  readonly root: number;
}
interface Job {
  readonly page: number;
  /** Bounds of its keys: from the first, up to before the second. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** The head of the file must have been checked. */
export function walkPages(path: string, visit?: Visit): PageWalk {
  const descriptor = openSync(path, 'r');
  try {
    return new Walker(descriptor, visit).run();
  } finally {
    closeSync(descriptor);
  }
}

class Walker {
  readonly #descriptor: number;
  readonly #visit: Visit | undefined;
  readonly #size: number;
  readonly #problems: PageProblem[] = [];
  readonly #rows = new Map<string, number>();
  readonly #trees: Tree[] = [];
  readonly #seen = new Set<number>();
  #pageSize = 4096;
  #pages = 0;

  constructor(descriptor: number, visit: Visit | undefined) {
    this.#descriptor = descriptor;
    this.#visit = visit;
    this.#size = fstatSync(descriptor).size;
  }

  run(): PageWalk {
    const main = this.#readMeta();
    if (main !== undefined) {
      for (const tree of main) this.#walk(tree);
      // The rows of the main tree are the tables.
      for (const tree of this.#trees) this.#walk(tree);
    }
    return { problems: this.#problems, rows: this.#rows };
  }

  #report(page: number, table: string, message: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ page, offset: page * this.#pageSize, table, message });
  }

  #readMeta(): Tree[] | undefined {
    const first = this.#read(0, 8192);
    const size = first.readUInt32LE(HEADER + 24);
    if (size < 512 || size > 65_536 || (size & (size - 1)) !== 0) {
      this.#report(0, '', `the size of pages cannot be ${size}`);
      return undefined;
    }
    this.#pageSize = size;
    const second = this.#read(size, size);
    const meta = number(second, HEADER + 128) > number(first, HEADER + 128) ? second : first;
    this.#pages = number(meta, HEADER + 120) + 1;
    if (!(this.#pages * size <= this.#size)) {
      this.#report(0, '', `the last page is ${this.#pages - 1}, and the file has ${this.#size} bytes`);
      return undefined;
    }
    return [treeAt(meta, HEADER + 24, FREE), treeAt(meta, HEADER + 24 + TREE, '')];
  }

  /** Level by level, each in the order in which its pages stand in the file. */
  #walk(tree: Tree): void {
    const { name } = tree;
    if (tree.root >= NO_PAGE - 2048) {
      if (tree.entries !== 0) this.#report(0, name, `its tree is empty, and should have ${tree.entries} rows`);
      return;
    }
    let rows = 0;
    let level: Job[] = [{ page: tree.root, from: undefined, to: undefined }];
    const before = this.#problems.length;
    for (let depth = 1; level.length > 0 && this.#problems.length < MOST_PROBLEMS; depth++) {
      const below: Job[] = [];
      for (const [job, page] of this.#pagesOf(level, name)) {
        const kind = page.readUInt16LE(18) & 0x0f;
        if (kind !== (depth === tree.depth ? LEAF : BRANCH)) this.#report(job.page, name, `it is not a page of level ${depth}`);
        else if (kind === LEAF) rows += this.#leaf(tree, job, page);
        else this.#branch(name, job, page, below);
      }
      if (depth > tree.depth && below.length > 0) break;
      level = below;
    }
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows);
    if (rows !== tree.entries && this.#problems.length === before)
      this.#report(tree.root, name, `its tree has ${rows} rows, and should have ${tree.entries}`);
  }

  *#pagesOf(jobs: Job[], table: string): Iterable<[Job, Buffer]> {
    const sound = jobs.filter(({ page }) => {
      const inFile = page >= 2 && page < this.#pages;
      if (!inFile) this.#report(page, table, 'there is no such page');
      else if (this.#seen.has(page)) this.#report(page, table, 'two places lead to it');
      if (!inFile || this.#seen.has(page)) return false;
      this.#seen.add(page);
      return true;
    });
    sound.sort((a, b) => a.page - b.page);
    for (let start = 0; start < sound.length; ) {
      let end = start + 1;
      const first = (sound[start] as Job).page;
      while (end < sound.length && end - start < RUN && (sound[end] as Job).page === first + end - start) end++;
      const bytes = this.#read(first * this.#pageSize, (end - start) * this.#pageSize);
      for (let i = start; i < end; i++) {
        const page = bytes.subarray((i - start) * this.#pageSize, (i - start + 1) * this.#pageSize);
        const job = sound[i] as Job;
        if (number(page, 0) === job.page) yield [job, page];
        else this.#report(job.page, table, 'it has the number of another page');
      }
      start = end;
    }
  }

  /** Places of the nodes of a page; undefined when they are wrong. */
  #nodes(table: string, job: Job, page: Buffer): number[] | undefined {
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    const room = this.#pageSize - HEADER;
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > room) {
      this.#report(job.page, table, 'its bounds are wrong');
      return undefined;
    }
    const places: number[] = [];
    let before: Buffer | undefined;
    for (let i = 0; i < lower / 2; i++) {
      const place = page.readUInt16LE(HEADER + 2 * i) + HEADER;
      const keySize = place + NODE <= this.#pageSize ? page.readUInt16LE(place + 6) : this.#pageSize;
      if (place < HEADER + upper || place + NODE + keySize > this.#pageSize) {
        this.#report(job.page, table, `node ${i} is not within it`);
        return undefined;
      }
      const key = keyAt(page, place);
      // The first key of a branch page counts for nothing.
      const counts = i > 0 || (page.readUInt16LE(18) & 0x0f) === LEAF;
      const low = before ?? job.from;
      if (
        counts &&
        table !== FREE &&
        ((low !== undefined && (before === undefined ? key.compare(low) < 0 : key.compare(low) <= 0)) ||
          (job.to !== undefined && key.compare(job.to) >= 0))
      ) {
        this.#report(job.page, table, `key ${i} is out of order`);
        return undefined;
      }
      if (counts) before = key;
      places.push(place);
    }
    return places;
  }

  #branch(table: string, job: Job, page: Buffer, below: Job[]): void {
    const places = this.#nodes(table, job, page);
    places?.forEach((place, i) => {
      const number = page.readUInt16LE(place) + page.readUInt16LE(place + 2) * 2 ** 16 + page.readUInt16LE(place + 4) * 2 ** 32;
      const next = places[i + 1];
      const from = i === 0 ? job.from : keyAt(page, place);
      below.push({ page: number, from, to: next === undefined ? job.to : keyAt(page, next) });
    });
  }

  #leaf(tree: Tree, job: Job, page: Buffer): number {
    const places = this.#nodes(tree.name, job, page);
    if (places === undefined) return 0;
    const isMain = tree.name === '';
    for (const [i, place] of places.entries()) {
      const flags = page.readUInt16LE(place + 4);
      const size = page.readUInt16LE(place) + page.readUInt16LE(place + 2) * 2 ** 16;
      const start = place + NODE + page.readUInt16LE(place + 6);
      const big = (flags & BIG) !== 0;
      if ((flags & ~(BIG | TREE_NODE)) !== 0 || start + (big ? 24 : size) > this.#pageSize) {
        this.#report(job.page, tree.name, `the data of row ${i} is not within it`);
        continue;
      }
      const value = big ? this.#large(tree.name, job.page, page, start, size) : page.subarray(start, start + size);
      if (value === undefined) continue;
      if (isMain && (flags & TREE_NODE) !== 0 && size === TREE)
        this.#trees.push(treeAt(value, 0, keyAt(page, place).toString('latin1').replace(/\0$/, '')));
      else if (this.#visit !== undefined && tree.name !== '' && tree.name !== FREE) this.#visit(tree.name, keyAt(page, place), value);
    }
    return places.length;
  }

  /** Data that stands on pages of its own; empty bytes where nobody wants it. */
  #large(table: string, from: number, page: Buffer, at: number, size: number): Buffer | undefined {
    const first = number(page, at);
    const pages = Math.ceil((HEADER + size) / this.#pageSize);
    if (first < 2 || first + pages > this.#pages) {
      this.#report(from, table, `it names ${pages} pages from ${first} on, which are not there`);
      return undefined;
    }
    if (this.#visit === undefined) return Buffer.alloc(0);
    return this.#read(first * this.#pageSize + HEADER, size);
  }

  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    const read = readSync(this.#descriptor, bytes, 0, length, offset);
    return read === length ? bytes : bytes.fill(0, read);
  }
}

const keyAt = (page: Buffer, place: number): Buffer => page.subarray(place + NODE, place + NODE + page.readUInt16LE(place + 6));
const number = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;

const treeAt = (bytes: Buffer, at: number, name: string): Tree => ({
  name,
  depth: bytes.readUInt16LE(at + 6),
  entries: number(bytes, at + 32),
  root: number(bytes, at + 40),
});
