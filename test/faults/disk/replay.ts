/**
 * The files of a directory as a power loss would leave them, built from what `shim.c` wrote down.
 *
 *   pwrite a   sync(a)   pwrite b   pwrite c ⚡          a is there; of b and c any sectors, or none
 *
 * What is durable: a write to a file that was opened with O_DSYNC when it has returned; other writes and changes of size
 * when a sync of their file has returned that began after they had; names (create, rename, unlink) when a sync of a
 * directory has, else some first part of them in their order, as file systems with a journal keep it.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../../../packages/lib/src/random.ts';

const OPEN = 1;
const WRITE = 2;
const SYNC = 3;
const TRUNCATE = 4;
const RENAME = 5;
const UNLINK = 6;
const DSYNC = 1;
const CREATED = 2;
const TRUNCATED = 4;
const MAGIC = 0x504c4f47;
const HEADER = 48;

interface DiskCall {
  readonly op: number;
  readonly id: number;
  readonly flags: number;
  inode: number;
  readonly path: string;
  readonly second: string;
  readonly offset: number;
  readonly data: Buffer;
  /** Places in the order of all records; `ended` is undefined for calls that had not returned. */
  readonly begun: number;
  ended: number | undefined;
  failed: boolean;
}

/** The calls in the order in which they began. A record that was cut short belongs to a call that never began. */
function parseLog(bytes: Buffer): DiskCall[] {
  const calls = new Map<number, DiskCall>();
  let place = 0;
  for (let at = 0; at + HEADER <= bytes.length; place++) {
    if (bytes.readUInt32LE(at) !== MAGIC) throw new Error(`the log of disk calls is damaged at ${at}`);
    const phase = bytes.readUInt8(at + 4);
    const pathLength = bytes.readUInt16LE(at + 6);
    const secondLength = bytes.readUInt16LE(at + 8);
    const id = Number(bytes.readBigUInt64LE(at + 16));
    const inode = Number(bytes.readBigUInt64LE(at + 24));
    const offset = Number(bytes.readBigInt64LE(at + 32));
    const length = Number(bytes.readBigUInt64LE(at + 40));
    const pathAt = at + HEADER;
    const end = pathAt + pathLength + secondLength + length;
    if (end > bytes.length) break;
    if (phase === 0) {
      const path = bytes.toString('utf8', pathAt, pathAt + pathLength);
      const second = bytes.toString('utf8', pathAt + pathLength, pathAt + pathLength + secondLength);
      const data = bytes.subarray(pathAt + pathLength + secondLength, end);
      const [op, flags] = [bytes.readUInt8(at + 5), bytes.readUInt32LE(at + 12)];
      calls.set(id, { op, id, flags, inode, path, second, offset, data, begun: place, ended: undefined, failed: false });
    } else {
      const call = calls.get(id);
      if (call !== undefined) {
        call.ended = place;
        call.failed = offset < 0;
        if (call.op === OPEN) call.inode = inode;
      }
    }
    at = end;
  }
  return [...calls.values()].sort((a, b) => a.begun - b.begun);
}

interface Change {
  readonly call: DiskCall;
  readonly truncateTo: number | undefined;
  durable: boolean;
}
interface Inode {
  readonly base: Buffer;
  readonly changes: Change[];
}
interface FileImage {
  readonly inode: number;
  readonly bytes: Buffer;
}
export type DirectoryImage = Map<string, FileImage>;

/** The regular files below a directory. */
export function readImage(directory: string): DirectoryImage {
  const image: DirectoryImage = new Map();
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name);
    const facts = lstatSync(path);
    if (facts.isFile()) image.set(path, { inode: facts.ino, bytes: readFileSync(path) });
  }
  return image;
}

/** Replaces what is in the directory. */
export function writeImage(directory: string, files: ReadonlyMap<string, Buffer>): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, bytes, { mode: 0o600 });
  }
}

/** What happens to writes that no sync covers. */
export type Loss = 'nothing kept' | 'all kept' | 'whole writes' | 'pages' | 'sectors';
export const losses: readonly Loss[] = ['nothing kept', 'all kept', 'whole writes', 'pages', 'sectors'];

export interface LossOptions {
  readonly loss: Loss;
  readonly random: Random;
  /** A disk that says it has written what it has not: shows that the test finds what a missing sync loses. */
  readonly lying?: boolean;
}

export interface LossResult {
  readonly files: Map<string, Buffer>;
  /** Writes that were not durable. */
  readonly undurable: number;
  readonly calls: number;
}

export function afterPowerLoss(before: DirectoryImage, log: Buffer, options: LossOptions): LossResult {
  const calls = parseLog(log);
  const inodes = new Map<number, Inode>();
  for (const { inode, bytes } of before.values()) inodes.set(inode, { base: bytes, changes: [] });
  // Taken now: the number of an inode that is gone can be given to a new file.
  const directory = new Map<string, Inode>();
  for (const [path, { inode }] of before) directory.set(path, inodes.get(inode) as Inode);
  const names: { call: DiskCall; inode: Inode | undefined }[] = [];
  let durableNames = 0;
  const syncs = calls.filter(({ op, ended, failed }) => op === SYNC && ended !== undefined && !failed);
  for (const call of calls) {
    if (call.failed) continue;
    if (call.op === OPEN && (call.flags & CREATED) !== 0) {
      const inode: Inode = { base: Buffer.alloc(0), changes: [] };
      if (call.inode !== 0) inodes.set(call.inode, inode);
      names.push({ call, inode });
    } else if (call.op === OPEN && (call.flags & TRUNCATED) !== 0) {
      inodes.get(call.inode)?.changes.push({ call, truncateTo: 0, durable: false });
    } else if (call.op === WRITE || call.op === TRUNCATE) {
      inodes.get(call.inode)?.changes.push({ call, truncateTo: call.op === TRUNCATE ? call.offset : undefined, durable: false });
    } else if (call.op === RENAME || call.op === UNLINK) names.push({ call, inode: undefined });
    if (!options.lying) settle(call, inodes, syncs);
  }
  // A sync of a directory makes the names before it durable; a directory is known by having no file of its own here.
  for (const sync of options.lying ? [] : syncs) {
    if (inodes.has(sync.inode)) continue;
    const covered = names.findLastIndex(({ call }) => call.ended !== undefined && call.ended < sync.begun) + 1;
    durableNames = Math.max(durableNames, covered);
  }
  const kept = durableNames + options.random.below(names.length - durableNames + 1);
  for (const { call, inode } of names.slice(0, kept)) rename(directory, call, inode);
  const files = new Map([...directory].map(([path, inode]) => [path, contentOf(inode, options)]));
  let undurable = 0;
  for (const { changes } of inodes.values()) undurable += changes.filter(({ durable }) => !durable).length;
  return { files, undurable, calls: calls.length };
}

function settle(call: DiskCall, inodes: Map<number, Inode>, syncs: readonly DiskCall[]): void {
  const changes = inodes.get(call.inode)?.changes ?? [];
  const change = changes.at(-1);
  if (change?.call !== call || call.ended === undefined) return;
  const ended = call.ended;
  if (syncs.some(({ inode, begun }) => inode === call.inode && begun > ended)) change.durable = true;
  if ((call.flags & DSYNC) === 0 || call.op !== WRITE) return;
  change.durable = true;
  // The size that this write needs is durable with it, and so are earlier changes of the size.
  for (const earlier of changes)
    if (earlier.truncateTo !== undefined && (earlier.call.ended ?? Infinity) < call.begun) earlier.durable = true;
}

function rename(directory: Map<string, Inode>, { op, path, second }: DiskCall, created: Inode | undefined): void {
  if (op === OPEN) directory.set(path, created as Inode);
  else if (op === UNLINK) directory.delete(path);
  else {
    const moved = directory.get(path);
    if (moved === undefined) return;
    directory.delete(path);
    directory.set(second, moved);
  }
}

function contentOf({ base, changes }: Inode, { loss, random }: LossOptions): Buffer {
  let size = base.length;
  let bytes = Buffer.from(base);
  const grow = (end: number) => {
    if (end > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(end - bytes.length, bytes.length))]);
    size = Math.max(size, end);
  };
  for (const { call, truncateTo, durable } of changes) {
    if (truncateTo !== undefined) {
      if (!durable && (loss === 'nothing kept' || (loss !== 'all kept' && random.below(2) === 0))) continue;
      if (truncateTo > size) grow(truncateTo);
      else {
        bytes.fill(0, truncateTo);
        size = truncateTo;
      }
      continue;
    }
    const unit = durable || loss === 'all kept' || loss === 'whole writes' ? Number.POSITIVE_INFINITY : loss === 'pages' ? 4_096 : 512;
    for (let at = 0; at < call.data.length; ) {
      const place = call.offset + at;
      const end = Math.min(call.data.length, unit === Number.POSITIVE_INFINITY ? call.data.length : at + unit - (place % unit));
      const keep = durable || loss === 'all kept' || (loss !== 'nothing kept' && random.below(2) === 0);
      // A sector that was not written may still be part of the file by then: it reads as zeros.
      if (keep || (loss !== 'nothing kept' && random.below(4) === 0)) grow(call.offset + end);
      if (keep) call.data.copy(bytes, place, at, end);
      at = end;
    }
  }
  return bytes.subarray(0, size);
}
