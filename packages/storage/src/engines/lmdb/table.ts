import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { StoreOwner } from '../../store-mark.ts';
import type { DamagedRecord, ExpiryKey, Position, StoredFacts, StoredRecord, StoredValue, VersionKey, VersionRow } from './format.ts';

interface ScanOptions<Key> {
  readonly start?: Key;
  readonly end?: Key;
  readonly limit?: number;
  readonly reverse?: boolean;
}

/** The methods of a library table that are used. Writes are made within `Tables.write` only. */
export interface Table<Key, Value> {
  get(key: Key): Value | undefined;
  getRange(options: ScanOptions<Key>): Iterable<{ readonly key: Key; readonly value: Value }>;
  put(key: Key, value: Buffer): unknown;
  remove(key: Key): unknown;
}

/** Rows without decoding, for migration and verification. */
export interface RawTables {
  readonly rawRecords: Table<Position, Buffer>;
  readonly rawVersions: Table<VersionKey | string, Buffer>;
  readonly meta: MetaTable;
  write(fill: () => void): Promise<void>;
}

export interface Tables extends RawTables {
  readonly versions: Table<VersionKey | string, VersionRow>;
  /** The same table four times: whole records, all but values and notes, values only, and sizes only. */
  readonly records: Table<Position, StoredRecord | DamagedRecord>;
  readonly recordFacts: Table<Position, StoredFacts | DamagedRecord>;
  readonly recordValues: Table<Position, StoredValue | DamagedRecord>;
  readonly recordSizes: Table<Position, number>;
  readonly expiries: Table<ExpiryKey, string>;
  /** Runs the writes of `fill` in one transaction; resolves when that is durable. `fill` must not throw. */
  write(fill: () => void): Promise<void>;
  stats(): TableStats;
  /**
   * Starts since all pages of the file were checked, undefined after a check by this one. The file is as the last
   * server left it (`clean-end.ts`).
   */
  readonly uncheckedStarts: number | undefined;
  /** Keeps everything readable unchanged in the file. Returns the function that ends that, which returns whether it was kept so long. */
  hold(): () => boolean;
  /** False while the file is reopened after the disk was full (`reopen.ts`). */
  readonly isReadable: boolean;
  close(): Promise<void>;
}

export interface TableStats {
  readonly file_bytes: number;
  readonly used_bytes: number;
  readonly kept_versions: number;
}

export interface TableOptions {
  readonly freeBytes?: (directory: string) => number;
  /** For measurements only: resolves before the data is durable. */
  readonly unsafeNoSync?: boolean;
  /** The identity of the server; undefined for tools, which open any store. */
  readonly owner?: StoreOwner | undefined;
  /** For the mark of a new store. */
  readonly random?: Random;
  readonly clock?: Clock;
  /** Names this start of the machine, as its system does if not given. */
  readonly boot?: string;
}

export type MetaTable = Table<string, string>;
