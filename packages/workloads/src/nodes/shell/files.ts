/** The files of a simulated container: those of its image and volumes, and those that its commands made. */

import { NotSupported } from './words.ts';

/** Bounds of what commands may write. */
const FILES = 1000;
export const FILE_BYTES = 256 * 1024;
/** Of all files of a container or volume. */
const KEPT_BYTES = 2 * FILE_BYTES;

/** Longest path of a mount, and of a file that commands write. */
export const PATH_LIMIT = 4096;
/** Characters of the directories that a tree names; further ones are left out. */
const TREE_CHARACTERS = 1 << 17;
/** The work of a look at one file (`work.ts`). */
const FILE_WORK = 20;
/** What one command may do with files. */
const COMMAND_FILE_WORK = 1 << 19;

/** Changes that commands made to the files of a container, or of a volume, by their path in it: `/a/b`; directories end with `/`. */
export interface KeptFiles {
  readonly contents: Map<string, string>;
  /** Files that were there from the start and are removed. At most those that were there. */
  readonly removed: Set<string>;
}
export const newKeptFiles = (): KeptFiles => ({ contents: new Map(), removed: new Set() });

/**
 * A place for what commands write: the container itself at ``, or a volume at its mount path.
 *
 *   { path: '' }, { path: '/data', within: '/shop' }      /data/a is the file /shop/a of the volume, /b that of the container
 */
export interface Layer {
  readonly path: string;
  /** The part of a volume that is mounted. */
  readonly within?: string;
  readonly keptFiles: () => KeptFiles | undefined;
  /** The same, made if there is none. */
  readonly keep: () => KeptFiles;
}

/** A layer that is forgotten with its user, unless that keeps `keptFiles`. */
export const layerOf = (keptFiles: KeptFiles, path = ''): Layer => ({ path, keptFiles: () => keptFiles, keep: () => keptFiles });

/** Whether a file that is not there is known to be missing, by its path. */
export type Knowledge = (path: string) => boolean;

export class Files {
  /** Of the process; relative paths begin there. */
  directory = '/';
  /** How often files were written or removed. */
  changes = 0;
  /** Whether a file or directory was looked for in vain, or a directory was listed. */
  missed = false;
  /** Whether a file was taken to be there that is not known. */
  assumed = false;
  /** Whether a test of a file that is not known decided what was done. */
  guessed = false;
  /** Files by path as they were before any command. */
  private readonly base: ReadonlyMap<string, string>;
  /** The deepest first. */
  private readonly layers: readonly Layer[];
  private readonly knows: Knowledge;
  /** Directories that were copied from where nothing is known. */
  private readonly copied: string[] = [];
  private work = 0;

  constructor(base: ReadonlyMap<string, string>, layers: readonly Layer[] = [layerOf(newKeptFiles())], knows: Knowledge = () => true) {
    this.base = base;
    this.layers = [...layers].sort((a, b) => b.path.length - a.path.length);
    this.knows = knows;
  }
  /** The path from the root. */
  absolute(path: string): string {
    return normal(path.startsWith('/') ? path : `${this.directory}/${path}`);
  }
  /** Whether what is not there may be there all the same: a command that needs it goes on as if it were. */
  assume(path: string): boolean {
    const mayExist = this.mayExist(path);
    if (mayExist) this.assumed = true;
    return mayExist;
  }
  /** The same for a test of it: what follows is a guess. */
  guess(path: string): void {
    if (this.mayExist(path)) this.guessed = true;
  }
  private mayExist(path: string): boolean {
    const at = this.absolute(path);
    return !this.exists(at) && (!this.knows(at) || this.copied.some((directory) => isWithin(at, directory)));
  }
  /** A directory was copied there of which nothing is known. */
  copiedTo(path: string): void {
    if (this.copied.length < FILES) this.copied.push(this.absolute(path));
  }

  /** What was done since the last call, in units of work. */
  takeWork(): number {
    const { work } = this;
    this.work = 0;
    return work;
  }
  private spend(units: number): void {
    this.work += units;
    if (this.work > COMMAND_FILE_WORK) throw new NotSupported('a command that looks at so many files');
  }
  read(path: string): string | undefined {
    const at = this.absolute(path);
    if (at === '/dev/null') return '';
    const { layer, name } = this.place(at);
    const keptFiles = layer.keptFiles();
    const own = keptFiles?.contents.get(name);
    const content = own ?? (keptFiles?.removed.has(name) === true ? undefined : this.base.get(at));
    if (content === undefined) this.missed = true;
    return content;
  }
  isDirectory(path: string): boolean {
    const at = this.absolute(path);
    if (at === '/' || usualDirectories.has(at)) return true;
    const prefix = `${at}/`;
    for (const layer of this.layers) if (layer.path === at || layer.path.startsWith(prefix)) return true;
    for (const name of this.paths()) if (name.startsWith(prefix)) return true;
    this.missed = true;
    return false;
  }
  exists(path: string): boolean {
    return this.read(path) !== undefined || this.isDirectory(path);
  }
  /** Names in a directory; undefined if there is none. */
  list(path: string): string[] | undefined {
    this.missed = true;
    if (!this.isDirectory(path)) return undefined;
    const at = this.absolute(path);
    const prefix = at === '/' ? '/' : `${at}/`;
    const names = new Set<string>();
    for (const name of [...this.paths(), ...this.layers.map((layer) => layer.path), ...usualDirectories])
      if (name.startsWith(prefix) && name.length > prefix.length) names.add(name.slice(prefix.length).split('/')[0] as string);
    return [...names].sort();
  }
  /** The paths of a file, or of all files in a directory and those below it; empty directories end with `/`. */
  under(path: string): string[] {
    this.missed = true;
    const at = this.absolute(path);
    return [...this.paths()].filter((name) => isWithin(name, at)).sort();
  }
  /** The directory, if it is one, and all in it and below it: directories end with `/`. */
  tree(path: string): string[] {
    const at = this.absolute(path);
    const root = at === '/' ? at : `${at}/`;
    const entries = new Set(this.isDirectory(at) ? [root] : []);
    let charactersLeft = TREE_CHARACTERS;
    for (const name of this.under(at)) {
      for (let end = name.indexOf('/', root.length); end > 0 && charactersLeft > 0; end = name.indexOf('/', end + 1)) {
        entries.add(name.slice(0, end + 1));
        charactersLeft -= end;
      }
      entries.add(name);
    }
    this.spend(TREE_CHARACTERS - charactersLeft);
    return [...entries].sort();
  }
  /** Returns false when there are too many files, or the text is too long. */
  write(path: string, text: string): boolean {
    return this.put(this.absolute(path), text);
  }
  /** Makes a directory, and those that it is in. Returns false when there are too many files. */
  makeDirectory(path: string): boolean {
    return this.isDirectory(path) || this.put(`${this.absolute(path)}/`, '');
  }
  private put(at: string, text: string): boolean {
    const { layer, name } = this.place(at);
    if (name.length > PATH_LIMIT) return false;
    const keptFiles = layer.keep();
    this.spend(keptFiles.contents.size);
    let size = text.length;
    for (const [file, content] of keptFiles.contents) if (file !== name) size += content.length;
    const fits = text.length <= FILE_BYTES && size <= KEPT_BYTES && (keptFiles.contents.size < FILES || keptFiles.contents.has(name));
    if (!fits) return false;
    keptFiles.removed.delete(name);
    keptFiles.contents.set(name, text);
    this.changes++;
    return true;
  }
  /** Removes a file, or a directory with all in it. Returns false if there is none. */
  remove(path: string): boolean {
    const at = this.absolute(path);
    let isRemoved = false;
    for (const file of [...this.paths()]) {
      if (!isWithin(file, at)) continue;
      isRemoved = true;
      const { layer, name } = this.place(file);
      const keptFiles = layer.keep();
      keptFiles.contents.delete(name);
      if (this.base.has(file)) keptFiles.removed.add(name);
      this.changes++;
    }
    return isRemoved;
  }
  /** All files as they are now. */
  all(): Map<string, string> {
    this.takeWork();
    return new Map([...this.paths()].map((path) => [path, this.read(path) ?? '']));
  }

  private place(at: string): { readonly layer: Layer; readonly name: string } {
    for (const layer of this.layers)
      if (layer.path === '' || isWithin(at, layer.path)) return { layer, name: `${layer.within ?? ''}${at.slice(layer.path.length)}` };
    throw new Error('files need a layer without a path');
  }
  private *paths(): Generator<string> {
    for (const at of this.base.keys()) {
      const { layer, name } = this.place(at);
      const keptFiles = layer.keptFiles();
      this.spend(FILE_WORK);
      if (keptFiles === undefined || !(keptFiles.removed.has(name) || keptFiles.contents.has(name))) yield at;
    }
    for (const layer of this.layers) {
      const within = layer.within ?? '';
      for (const name of layer.keptFiles()?.contents.keys() ?? []) {
        const at = `${layer.path}${name.slice(within.length)}`;
        this.spend(FILE_WORK);
        // A deeper mount hides what is below it.
        if ((within === '' || isWithin(name, within)) && this.place(at).layer === layer) yield at;
      }
    }
  }
}

/** Whether a path is that of a directory, or of what is below it. */
export const isWithin = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

/** Directories that every image has. */
const usualDirectories: ReadonlySet<string> = new Set(['/bin', '/dev', '/etc', '/proc', '/root', '/tmp', '/usr', '/var']);

/** The text without a character that it ends with, however often. A pattern would look at the rest again from each of them. */
export function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}

/** `/a//b/../c/` → `/a/c` */
export function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
