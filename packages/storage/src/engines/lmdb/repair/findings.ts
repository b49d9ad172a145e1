/**
 * What verify, repair and stat of a data directory report. `verify.ts`, `repair.ts` and `stat.ts` make these; all three
 * take the directory's lock, so that they refuse a directory that a server uses.
 *
 *   verifyDirectory(directory) → Finding[]            none: everything that was written can be read
 *   repairDirectory(directory, options) → Repair      afterwards a server starts; lost objects are named
 *   statDirectory(directory) → DirectoryStat
 */
type FindingKind =
  /** The head of the file, or the file as a whole. */
  | 'file'
  /** A page of the database. */
  | 'page'
  /** A frame of the journal. */
  | 'journal'
  /** A value, or a row of a table, named by its key and revision where these are known. */
  | 'record'
  | 'version'
  | 'expiry'
  | 'meta';

export interface Finding {
  readonly kind: FindingKind;
  /** Name of the file within the directory. */
  readonly file: string;
  /** The problem, in a sentence without content of objects. */
  readonly message: string;
  /** Offset in the file, in bytes. */
  readonly offset?: number;
  /** Key in the store, such as `core/pods/default/web`. */
  readonly key?: string;
  readonly revision?: number;
  /** Whether a server starts in spite of it and serves everything else. */
  readonly startsAnyway: boolean;
}

export interface LostObject {
  readonly key: string;
  /** 0 when it is not known. */
  readonly revision: number;
  readonly reason: string;
}

export interface Repair {
  readonly findings: readonly Finding[];
  /** Directory within the data directory with the original files; undefined when nothing was wrong. */
  readonly movedTo: string | undefined;
  readonly keptObjects: number;
  readonly lost: readonly LostObject[];
  /** First revision of the repaired store: no lower than any that was assigned, as far as that can be known. */
  readonly revision: number;
}

export interface DirectoryStat {
  readonly format: number;
  /** `undefined` in stores of formats that did not record it. */
  readonly identity: string | undefined;
  readonly productVersion: string | undefined;
  readonly createdAt: string | undefined;
  readonly storeId: string | undefined;
  readonly revision: number;
  readonly compactedRevision: number;
  readonly objects: number;
  readonly versions: number;
  readonly fileBytes: number;
  readonly journalBytes: number;
  /** Objects by collection, such as `core/pods`. */
  readonly collections: Readonly<Record<string, { readonly objects: number; readonly bytes: number }>>;
}
