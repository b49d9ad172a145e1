/** Reads files of a kustomization. No path leaves its directory; other kustomizations are named by their own directory. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { isWithin } from '../path-within.ts';
import { KustomizeError } from './resource.ts';

export type LoadRestriction = 'LoadRestrictionsRootOnly' | 'LoadRestrictionsNone';

/** Bases of bases: deeper ones are refused. */
const MOST_LEVELS = 100;
/** No file is larger. */
const MOST_BYTES = 64 << 20;

export class Loader {
  readonly root: string;
  private readonly restriction: LoadRestriction;
  private readonly parent: Loader | undefined;
  private readonly level: number;

  private constructor(root: string, restriction: LoadRestriction, parent?: Loader) {
    this.root = root;
    this.restriction = restriction;
    this.parent = parent;
    this.level = parent === undefined ? 0 : parent.level + 1;
  }
  static async at(directory: string, cwd: string, restriction: LoadRestriction): Promise<Loader> {
    refuseRemote(directory);
    return new Loader(await directoryAt(resolve(cwd, directory), directory), restriction);
  }
  /** The directory of another kustomization. */
  async below(path: string): Promise<Loader> {
    refuseRemote(path);
    if (isAbsolute(path)) throw new KustomizeError(`new root '${path}' cannot be absolute`);
    if (this.level >= MOST_LEVELS) throw new KustomizeError(`${this.root}: more than ${MOST_LEVELS} kustomizations within each other`);
    const root = await directoryAt(join(this.root, path), path);
    for (let visited: Loader | undefined = this; visited !== undefined; visited = visited.parent) {
      if (isWithin(visited.root, root)) {
        throw new KustomizeError(`cycle detected: candidate root '${root}' contains visited root '${visited.root}'`);
      }
    }
    return new Loader(root, this.restriction, this);
  }
  async isDirectory(path: string): Promise<boolean> {
    return (await stat(resolve(this.root, path)).catch(() => undefined))?.isDirectory() ?? false;
  }
  async has(path: string): Promise<boolean> {
    return (await stat(resolve(this.root, path)).catch(() => undefined)) !== undefined;
  }
  async read(path: string): Promise<Buffer> {
    refuseRemote(path);
    const file = await realpath(resolve(this.root, path)).catch(() => {
      throw new KustomizeError(`${join(this.root, path)}: no such file or directory`);
    });
    if (this.restriction === 'LoadRestrictionsRootOnly' && !isWithin(file, this.root)) {
      throw new KustomizeError(`security; file '${file}' is not in or below '${this.root}'`);
    }
    const facts = await stat(file);
    if (!facts.isFile()) throw new KustomizeError(`'${file}' must resolve to a file`);
    if (facts.size > MOST_BYTES) throw new KustomizeError(`${file} is larger than ${MOST_BYTES} bytes`);
    return readFile(file);
  }
}

async function directoryAt(path: string, displayPath: string): Promise<string> {
  const real = await realpath(path).catch(() => {
    throw new KustomizeError(`${displayPath}: no such file or directory`);
  });
  if (!(await stat(real)).isDirectory()) {
    throw new KustomizeError(`'${displayPath}' must be a directory so that it can be used as a build root`);
  }
  return real;
}

/** Addresses of web pages and git repositories. */
const remote = /^(?:[a-z][a-z0-9+.-]*:\/\/|git::|git@|ssh:|github\.com[/:]|gh:|[^/]+@[^/]+:)|\?ref=|\.git(?:$|[/?])/i;
function refuseRemote(path: string): void {
  if (!remote.test(path)) return;
  throw new KustomizeError(`${path}: remote resources are not fetched; download them and name the local files or directory`);
}
