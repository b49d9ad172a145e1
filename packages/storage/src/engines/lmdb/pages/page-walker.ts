/** One walk over the pages of a store file; `pages.ts` describes their layout. */
import { BIG, FREE_TABLE, HEADER, isBefore, keyAt, NODE, number, Pages, soundPlaces, TREE, type Tree, treeAt } from './page-file.ts';
import type { PageProblem, PageWalk, Visit, WalkOptions } from './page-walk.ts';

const [BRANCH, LEAF, OVERFLOW] = [1, 2, 4];
const TREE_NODE = 2;
const NO_PAGE = 2 ** 64;
/** Maximum adjacent pages that are read at a time. */
const RUN = 256;
/** Heads of large data that are no further apart than this many pages are read together. */
const NEAR = 16;
/** Maximum heads of large data that wait to be checked. */
const MOST_HEADS = 512;
/** Pages of a level that are checked together, in file order. */
const TOGETHER = 4_096;
/** Maximum problems that are named. */
const MOST_PROBLEMS = 100;
/** What a page is used for. */
const [UNKNOWN, USED, FREE] = [0, 1, 2];

/** The first of the pages of large data. */
interface Head {
  readonly first: number;
  readonly pages: number;
  readonly table: string;
}
interface Job {
  readonly page: number;
  /** Bounds of its keys: from the first, up to before the second. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

export class Walker {
  readonly #file: Pages;
  readonly #visit: Visit | undefined;
  readonly #salvage: boolean;
  readonly #problems: PageProblem[] = [];
  #problemCount = 0;
  readonly #rows = new Map<string, number>();
  readonly #expected = new Map<string, number>();
  readonly #tables: Tree[] = [];
  /** Lists of free pages. */
  readonly #lists: { readonly page: number; readonly list: Buffer }[] = [];
  readonly #run: Buffer;
  readonly #most: number;
  #uses = new Uint8Array(0);
  /** Large data to be checked. */
  #heads: Head[] = [];

  constructor(descriptor: number, { visit, salvage = false, run = RUN }: WalkOptions) {
    this.#file = new Pages(descriptor);
    this.#visit = visit;
    this.#salvage = salvage;
    this.#most = run;
    this.#run = Buffer.allocUnsafe(Math.min(Math.max(this.#file.size, 65_536), Math.max(run, NEAR + 1) * 4096));
  }

  get found(): PageWalk {
    return { problems: this.#problems, problemCount: this.#problemCount, rows: this.#rows, expected: this.#expected };
  }

  /** The walk, in short steps. */
  *steps(): Generator<void, void, void> {
    const isMetaReadable = this.#file.readMeta((page, table, message) => this.#report(page, table, message));
    if (!isMetaReadable || !(this.#salvage || this.#problemCount === 0)) return;
    this.#uses = new Uint8Array(this.#file.count);
    const [free, main] = this.#file.trees as [Tree, Tree];
    yield* this.#walk(free);
    for (const { page, list } of this.#lists) this.#freeList(page, list);
    const freeIsKnown = this.#problemCount === 0;
    yield* this.#walk(main);
    // The rows of the main tree are the tables.
    for (const tree of this.#tables) yield* this.#walk(tree);
    if (this.#salvage && freeIsKnown && this.#problemCount > 0) this.#salvagePages();
  }

  /** Without a repair it is enough to know that there is damage. */
  get #goesOn(): boolean {
    return this.#salvage || this.#problemCount < MOST_PROBLEMS;
  }

  #report(page: number, table: string, message: string): void {
    this.#problemCount++;
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ page, offset: page * this.#file.pageSize, table, message });
  }

  /** Level by level, each in file order. */
  *#walk(tree: Tree): Generator<void, void, void> {
    const { name } = tree;
    this.#expected.set(name, tree.entries);
    if (tree.root >= NO_PAGE - 2048) {
      if (tree.entries !== 0) this.#report(0, name, `its tree is empty, and should have ${tree.entries} rows`);
      return;
    }
    let rows = 0;
    let level: Job[] = [{ page: tree.root, from: undefined, to: undefined }];
    const problemsBefore = this.#problemCount;
    for (let depth = 1; level.length > 0 && depth <= tree.depth && this.#goesOn; depth++) {
      const below: Job[] = [];
      yield* this.#eachPage(level, name, (job, page) => {
        const flags = page.readUInt16LE(18);
        const expectedFlags = depth === tree.depth ? LEAF : BRANCH;
        if (flags !== expectedFlags) this.#report(job.page, name, `it is not a page of level ${depth}`);
        if (flags !== expectedFlags && !this.#salvage) return;
        if (expectedFlags === LEAF || flags === LEAF) rows += this.#leaf(tree, job, page);
        else this.#branch(name, job, page, below);
      });
      level = below;
    }
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows);
    if (rows !== tree.entries && this.#problemCount === problemsBefore)
      this.#report(tree.root, name, `its tree has ${rows} rows, and should have ${tree.entries}`);
  }

  /** Marks pages as used; false if that is a contradiction. */
  #use(first: number, pages: number, from: number, table: string): boolean {
    if (!(first >= 2 && first + pages <= this.#file.count)) {
      this.#report(
        from,
        table,
        pages === 1 ? `there is no page ${first}` : `it names ${pages} pages from ${first} on, which are not there`,
      );
      return false;
    }
    for (let page = first; page < first + pages; page++) {
      if (this.#uses[page] === USED) {
        this.#report(page, table, 'two places lead to it');
        return false;
      }
      if (this.#uses[page] === FREE) {
        this.#report(page, FREE_TABLE, `it is in use${table === '' ? '' : ` by the table ${table}`}, and a list says that it is free`);
        if (!this.#salvage) return false;
      }
      this.#uses[page] = USED;
    }
    return true;
  }

  *#eachPage(level: Job[], table: string, look: (job: Job, page: Buffer) => void): Generator<void, void, void> {
    for (let at = 0; at < level.length; at += TOGETHER) {
      const sound = level.slice(at, at + TOGETHER).filter(({ page }) => this.#use(page, 1, page, table));
      sound.sort((a, b) => a.page - b.page);
      for (let start = 0; start < sound.length; ) {
        start = this.#readRun(sound, start, table, look);
        if (this.#heads.length >= MOST_HEADS) this.#checkHeads();
        yield;
      }
    }
    this.#checkHeads();
  }

  /** Reads adjacent pages, from one on; returns the first that is not. */
  #readRun(jobs: readonly Job[], start: number, table: string, look: (job: Job, page: Buffer) => void): number {
    const { pageSize } = this.#file;
    const most = Math.min(this.#most, Math.floor(this.#run.length / pageSize));
    const first = (jobs[start] as Job).page;
    let end = start + 1;
    while (end < jobs.length && end - start < most && (jobs[end] as Job).page === first + end - start) end++;
    const bytes = this.#file.read(first * pageSize, (end - start) * pageSize, this.#run);
    for (let i = start; i < end; i++) {
      const page = bytes.subarray((i - start) * pageSize, (i - start + 1) * pageSize);
      const job = jobs[i] as Job;
      const isIt = number(page, 0) === job.page;
      if (!isIt) this.#report(job.page, table, 'it has the number of another page');
      if (isIt || this.#salvage) look(job, page);
    }
    return end;
  }

  /** Offsets of the nodes of a page; none when they are wrong. */
  #nodes(table: string, job: Job, page: Buffer): number[] {
    const problem = this.#nodeProblem(table, job, page);
    if (problem === undefined) {
      const places: number[] = [];
      const end = HEADER + page.readUInt16LE(20);
      for (let at = HEADER; at < end; at += 2) places.push(page.readUInt16LE(at) + HEADER);
      return places;
    }
    this.#report(job.page, table, problem);
    return this.#salvage ? soundPlaces(page) : [];
  }

  #nodeProblem(table: string, job: Job, page: Buffer): string | undefined {
    const [lower, upper, flags] = [page.readUInt16LE(20), page.readUInt16LE(22), page.readUInt16LE(18)];
    const { length } = page;
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > length - HEADER) return 'its bounds are wrong';
    let previousKey = 0;
    let beforeSize = 0;
    for (let i = 0; i < lower / 2; i++) {
      const place = page.readUInt16LE(HEADER + 2 * i) + HEADER;
      const keySize = place + NODE <= length ? page.readUInt16LE(place + 6) : length;
      if (place < HEADER + upper || place + NODE + keySize > length) return `node ${i} is not within it`;
      // The first key of a branch page is ignored.
      if (table === FREE_TABLE || (i === 0 && flags === BRANCH)) continue;
      const key = place + NODE;
      if (
        previousKey === 0
          ? job.from !== undefined && page.compare(job.from, 0, job.from.length, key, key + keySize) < 0
          : !isBefore(page, previousKey, beforeSize, key, keySize)
      )
        return `key ${i} is out of order`;
      previousKey = key;
      beforeSize = keySize;
    }
    if (previousKey > 0 && job.to !== undefined && page.compare(job.to, 0, job.to.length, previousKey, previousKey + beforeSize) >= 0)
      return 'its last key is out of order';
    return undefined;
  }

  #branch(table: string, job: Job, page: Buffer, below: Job[]): void {
    const places = this.#nodes(table, job, page);
    // The buffer is reused: keys are copied.
    const keys = places.map((place) => Buffer.from(keyAt(page, place)));
    for (const [i, place] of places.entries()) {
      const next = page.readUInt16LE(place) + page.readUInt16LE(place + 2) * 2 ** 16 + page.readUInt16LE(place + 4) * 2 ** 32;
      below.push({ page: next, from: i === 0 ? job.from : keys[i], to: keys[i + 1] ?? job.to });
    }
  }

  #leaf(tree: Tree, job: Job, page: Buffer): number {
    const places = this.#nodes(tree.name, job, page);
    let rows = 0;
    for (const place of places) if (this.#row(tree.name, job.page, page, place)) rows++;
    return rows;
  }

  #row(table: string, at: number, page: Buffer, place: number): boolean {
    const flags = page.readUInt16LE(place + 4);
    const size = page.readUInt16LE(place) + page.readUInt16LE(place + 2) * 2 ** 16;
    const start = place + NODE + page.readUInt16LE(place + 6);
    const big = (flags & BIG) !== 0;
    if ((flags & ~(BIG | TREE_NODE)) !== 0 || start + (big ? 24 : size) > page.length) {
      this.#report(at, table, `the data of the row at byte ${place} is not within it`);
      return false;
    }
    const isMain = table === '' && (flags & TREE_NODE) !== 0;
    const isVisited = isMain || table === FREE_TABLE || this.#visit !== undefined;
    if (big && !this.#checkLarge(table, at, page, start, size)) return false;
    if (!isVisited) return true;
    const value = big ? this.#file.read(number(page, start) * this.#file.pageSize + HEADER, size) : page.subarray(start, start + size);
    if (table === FREE_TABLE) this.#lists.push({ page: at, list: Buffer.concat([keyAt(page, place), value]) });
    else if (isMain && size === TREE) this.#tables.push(treeAt(value, 0, keyAt(page, place).toString('latin1').replace(/\0$/, '')));
    else if (table !== '') this.#visit?.(table, keyAt(page, place), value, { page: at, node: place });
    return true;
  }

  /** Overflow pages with data of their own. Their head has their number, which the library trusts when it frees them. */
  #checkLarge(table: string, from: number, page: Buffer, at: number, size: number): boolean {
    const first = number(page, at);
    const pages = Math.ceil((HEADER + size) / this.#file.pageSize);
    if (!this.#use(first, pages, from, table)) return false;
    this.#heads.push({ first, pages, table });
    return true;
  }

  /** Heads that are near each other are read together: a call for each costs more. */
  #checkHeads(): void {
    const { pageSize } = this.#file;
    this.#heads.sort((a, b) => a.first - b.first);
    for (let start = 0, end = 0; start < this.#heads.length && this.#goesOn; start = end) {
      const { first } = this.#heads[start] as Head;
      while (end < this.#heads.length && (this.#heads[end] as Head).first - first < NEAR) end++;
      const length = ((this.#heads[end - 1] as Head).first - first) * pageSize + HEADER;
      const bytes = this.#file.read(first * pageSize, length, this.#run);
      for (let i = start; i < end; i++) {
        const head = this.#heads[i] as Head;
        const at = (head.first - first) * pageSize;
        if (number(bytes, at) !== head.first || bytes.readUInt16LE(at + 18) !== OVERFLOW || bytes.readUInt32LE(at + 20) !== head.pages)
          this.#report(head.first, head.table, `its head is not that of ${head.pages} pages of data`);
      }
    }
    this.#heads = [];
  }

  /** Records free pages. A used page must not be in a list of free ones: the library would overwrite it. */
  #freeList(page: number, row: Buffer): void {
    const transaction = row.length >= 16 ? number(row, 0) : 0;
    const count = row.length >= 16 ? number(row, 8) : 0;
    if (row.length % 8 !== 0 || transaction < 1 || transaction > this.#file.transaction || 16 + count * 8 > row.length) {
      this.#report(page, FREE_TABLE, 'a list of free pages is damaged');
      return;
    }
    for (let at = 16; at < 16 + count * 8; at += 8) {
      let entry = Number(row.readBigInt64LE(at));
      let pages = 1;
      if (entry < 0) {
        pages = -entry;
        at += 8;
        entry = at < 16 + count * 8 ? Number(row.readBigInt64LE(at)) : -1;
      } else if (entry === 0) continue;
      if (!(entry >= 2 && entry + pages <= this.#file.count)) {
        this.#report(page, FREE_TABLE, 'a list of free pages names pages that are not there');
        return;
      }
      for (let free = entry; free < entry + pages; free++) {
        if (this.#uses[free] === USED) {
          this.#report(page, FREE_TABLE, `page ${free} holds lists of free pages, and is in one itself`);
          return;
        }
        // The library would use it twice.
        if (this.#uses[free] === FREE) {
          this.#report(page, FREE_TABLE, `page ${free} is twice in the lists of free pages`);
          return;
        }
        this.#uses[free] = FREE;
      }
    }
  }

  /**
   * Rows of unreachable pages that are not free: those below a damaged branch page. If the lists of
   * free pages are damaged themselves, it is not known which of these are stale, and nothing is taken from them.
   */
  #salvagePages(): void {
    for (let at = 2; at < this.#file.count; at++) {
      if (this.#uses[at] !== UNKNOWN) continue;
      const page = this.#file.page(at);
      if (number(page, 0) !== at || page.readUInt16LE(18) !== LEAF) continue;
      for (const node of soundPlaces(page)) {
        const size = page.readUInt16LE(node) + page.readUInt16LE(node + 2) * 2 ** 16;
        const start = node + NODE + page.readUInt16LE(node + 6);
        const big = (page.readUInt16LE(node + 4) & BIG) !== 0;
        const from = big && start + 8 <= page.length ? number(page, start) * this.#file.pageSize + HEADER : 0;
        if (big ? from === 0 || from + size > this.#file.size : start + size > page.length) continue;
        const value = big ? this.#file.read(from, size) : page.subarray(start, start + size);
        this.#visit?.('', keyAt(page, node), value, { page: at, node });
      }
    }
  }
}
