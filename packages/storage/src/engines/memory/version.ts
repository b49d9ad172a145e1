/** A version of a key in the store in memory, and what is read of the versions of a key, which are in a list, oldest first. */
import type { ChangeRecord, Entry, KeptValue } from '../../engine.ts';

export interface Version {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  /** undefined: the key was deleted. A subscriber may keep it in another form. */
  value: Buffer | KeptValue | undefined;
  /** When the key is to be deleted, in milliseconds; 0: never. */
  readonly expires: number;
  /** When it was written, in milliseconds. */
  readonly time: number;
  readonly note: Buffer | undefined;
}

export const bytesOf = ({ value }: Pick<Version, 'value'>): Buffer | undefined =>
  value === undefined || Buffer.isBuffer(value) ? value : value.stored();

export const changeOf = (version: Version): ChangeRecord => {
  const { type, key, revision, created } = version;
  return { type, key, value: bytesOf(version), revision, created };
};

/** Undefined if the key was deleted. */
export function currentOf(versions: readonly Version[] | undefined): Version | undefined {
  const last = versions?.at(-1);
  return last?.value === undefined ? undefined : last;
}

export function entryAt(versions: readonly Version[] | undefined, at: number, expiries = false): Entry | undefined {
  const version = versions?.findLast(({ revision }) => revision <= at);
  const value = version && bytesOf(version);
  if (version === undefined || value === undefined) return undefined;
  const { key, revision, created, expires } = version;
  return expiries && expires > 0 ? { key, value, revision, created, expires } : { key, value, revision, created };
}

/** Whether two versions have one value. A version that was restored has a copy of it. */
export function isSame(one: Version, other: Version | undefined): boolean {
  if (other === undefined) return false;
  if (one.value === other.value) return true;
  const [value, compared] = [bytesOf(one), bytesOf(other)];
  return one.expires === other.expires && value !== undefined && compared !== undefined && value.equals(compared);
}
