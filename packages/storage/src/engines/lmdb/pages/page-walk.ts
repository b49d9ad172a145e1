import type { RowPlace } from './page-file.ts';

export interface PageProblem {
  readonly page: number;
  readonly offset: number;
  /** Table that the page belongs to; empty for those of the file itself. */
  readonly table: string;
  readonly message: string;
}

export interface PageWalk {
  readonly problems: readonly PageProblem[];
  /** Number of problems, including those that are not named. */
  readonly problemCount: number;
  /** Rows that were found, by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** Expected rows of the trees, by table. */
  readonly expected: ReadonlyMap<string, number>;
}

/** Called for each row of a table, `''` if that is not known. The callee must copy buffers that it keeps. */
export type Visit = (table: string, key: Buffer, value: Buffer, place: RowPlace) => void;

export interface WalkOptions {
  /** Rows are read, with the pages of large ones. */
  readonly visit?: Visit;
  /**
   * For a repair: continues after problems with all rows that can be found, including those on unreachable
   * pages. Each row must be verified by its own checksum.
   */
  readonly salvage?: boolean;
  /** Pages that are read at a time. */
  readonly run?: number;
}
