/** Entries of a tar archive: blocks of 512 bytes, a header before the content of each file. */

export const BLOCK = 512;
/** Archives are padded to this: some readers wait for a whole record. */
export const RECORD = 20 * BLOCK;

export type EntryKind = 'file' | 'directory' | 'link' | 'symlink' | 'other';
export interface Entry {
  readonly kind: EntryKind;
  readonly name: string;
  /** Bytes of content. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Where a link leads; empty for others. */
  readonly target: string;
}

/** Bytes to the end of the last block. */
export const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** Places of the fields in a header: offset and length. */
export const fields = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  target: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

/** The sum of all bytes of a header, where its own field counts as blanks. */
export function checksumOf(header: Buffer): number {
  let sum = 0;
  const [at, length] = fields.checksum;
  for (let i = 0; i < BLOCK; i++) sum += i >= at && i < at + length ? 0x20 : (header[i] as number);
  return sum;
}
