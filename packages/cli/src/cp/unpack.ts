/** Writes the entries of an archive from a container below a local path. No entry leaves it: links and `..` are refused. */
import { closeSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import type { Entry } from '@plat-dev/streams/tar/entry';
import type { EntrySink } from '@plat-dev/streams/tar/read';
import { printable } from '../output/print-table.ts';
import { isWithin } from '../path-within.ts';

export interface UnpackOptions {
  /** What the names in the archive begin with. */
  readonly prefix: string;
  /** The local path: the copy of a file gets this name, that of a directory has its content below. */
  readonly target: string;
  /** The name that a file gets if the target is a directory. */
  readonly base: string;
  warn(text: string): void;
}

export class Unpacker {
  private readonly options: UnpackOptions;
  private readonly root: string;
  /** Files and directories that were written. */
  count = 0;

  constructor(options: UnpackOptions) {
    this.options = options;
    this.root = resolve(options.target);
  }
  open(entry: Entry): EntrySink | undefined {
    const path = this.placeOf(entry);
    if (path === undefined) return undefined;
    if (entry.kind === 'symlink' || entry.kind === 'link') {
      this.options.warn(`skipping ${entry.kind}: ${quoted(path)} -> ${quoted(entry.target)}`);
      return undefined;
    }
    if (entry.kind === 'other') {
      this.options.warn(`skipping ${quoted(path)}: it is neither a file nor a directory`);
      return undefined;
    }
    if (entry.kind === 'directory') {
      if (this.makeDirectory(path)) this.count++;
      return undefined;
    }
    const file = path === this.root && isDirectory(path) ? join(path, basename(this.options.base)) : path;
    return this.writeFile(file);
  }

  /** Undefined if it would lie outside of the target. */
  private placeOf({ name }: Entry): string | undefined {
    const { prefix, warn } = this.options;
    // Archives of `.` have names that begin with it.
    const plain = name.replace(/^(\.\/)+/, '').replace(/^\.$/, '');
    if (plain !== prefix && !plain.startsWith(prefix === '' ? '' : `${prefix}/`)) throw new Error('tar contents corrupted');
    const path = join(this.root, plain.slice(prefix.length));
    if (isWithin(path, this.root) && !plain.split('/').includes('..')) return stripped(path);
    warn(`file ${quoted(name)} is outside target destination, skipping`);
    return undefined;
  }
  private writeFile(path: string): EntrySink | undefined {
    // The directory of the target itself is the caller's choice; what is below must not be a link.
    if (path === this.root) makeDirectory(dirname(path));
    else if (!this.makeDirectory(dirname(path))) return undefined;
    if (path !== this.root && isLink(path)) {
      this.options.warn(`skipping ${quoted(path)}: there is a link of that name`);
      return undefined;
    }
    const file = openSync(path, 'w');
    this.count++;
    return { write: (bytes) => writeWhole(file, bytes), end: () => closeSync(file) };
  }
  /** Makes a directory and those above it, down from the target. False if one of them is a link. */
  private makeDirectory(path: string): boolean {
    makeDirectory(this.root);
    let at = this.root;
    for (const part of relative(this.root, path).split(sep)) {
      if (part === '') continue;
      at = join(at, part);
      if (isLink(at)) {
        this.options.warn(`skipping what is below ${quoted(at)}: it is a link`);
        return false;
      }
      if (!isDirectory(at)) mkdirSync(at);
    }
    return true;
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
const stripped = (path: string): string => (path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path);
const quoted = (text: string): string => `"${printable(text)}"`;
const factsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });
const isLink = (path: string): boolean => factsOf(path)?.isSymbolicLink() ?? false;
const isDirectory = (path: string): boolean => {
  const facts = factsOf(path);
  return facts?.isDirectory() ?? false;
};
