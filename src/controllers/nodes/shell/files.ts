/** The files of a simulated container: those of its volumes, and those that its commands made. */

/** Bounds of what commands may write. */
const FILES = 1000;
export const FILE_BYTES = 256 * 1024;

export class Files {
  /** Read-only files by path, as volumes show them. */
  private readonly mounted: ReadonlyMap<string, string>;
  private readonly written: Map<string, string>;
  private readonly removed: Set<string>;

  /** `kept`: what commands of the same container wrote before. */
  constructor(mounted: ReadonlyMap<string, string>, kept: KeptFiles = newKeptFiles()) {
    this.mounted = mounted;
    this.written = kept.written;
    this.removed = kept.removed;
  }

  read(path: string): string | undefined {
    const at = normal(path);
    const own = this.written.get(at);
    if (own !== undefined) return own;
    return this.removed.has(at) ? undefined : this.mounted.get(at);
  }
  isDirectory(path: string): boolean {
    const at = normal(path);
    if (at === '/' || usualDirectories.has(at)) return true;
    const prefix = `${at}/`;
    for (const name of this.paths()) if (name.startsWith(prefix)) return true;
    return false;
  }
  exists(path: string): boolean {
    return this.read(path) !== undefined || this.isDirectory(path);
  }
  /** Names in a directory; undefined if there is none. */
  list(path: string): string[] | undefined {
    if (!this.isDirectory(path)) return undefined;
    const at = normal(path);
    const prefix = at === '/' ? '/' : `${at}/`;
    const names = new Set<string>();
    for (const name of [...this.paths(), ...usualDirectories])
      if (name.startsWith(prefix) && name.length > prefix.length) names.add(name.slice(prefix.length).split('/')[0] as string);
    return [...names].sort();
  }
  /** The paths of a file, or of all files in a directory and those below it. */
  under(path: string): string[] {
    const at = normal(path);
    const prefix = at === '/' ? at : `${at}/`;
    return [...this.paths()].filter((name) => name === at || name.startsWith(prefix)).sort();
  }
  /** Returns false when there are too many files, or the text is too long. */
  write(path: string, text: string): boolean {
    const at = normal(path);
    if (text.length > FILE_BYTES || (this.written.size >= FILES && !this.written.has(at))) return false;
    this.removed.delete(at);
    this.written.set(at, text);
    return true;
  }
  /** Removes a file, or a directory with all in it. Returns false if there is none. */
  remove(path: string): boolean {
    const at = normal(path);
    let found = false;
    for (const name of [...this.paths()]) {
      if (name !== at && !name.startsWith(`${at}/`)) continue;
      found = true;
      this.written.delete(name);
      if (this.mounted.has(name)) this.removed.add(name);
    }
    return found;
  }

  private *paths(): Generator<string> {
    for (const name of this.mounted.keys()) if (!this.removed.has(name) && !this.written.has(name)) yield name;
    yield* this.written.keys();
  }
}

/** Changes that commands made to the files of a container. */
export interface KeptFiles {
  readonly written: Map<string, string>;
  /** Mounted files that were removed. At most those that are mounted. */
  readonly removed: Set<string>;
}
export const newKeptFiles = (): KeptFiles => ({ written: new Map(), removed: new Set() });

/** Directories that every image has. */
const usualDirectories: ReadonlySet<string> = new Set(['/bin', '/dev', '/etc', '/proc', '/root', '/tmp', '/usr', '/var']);

/** `/a//b/../c/` → `/a/c` */
export function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
