/** How this program is run again: by another process, or from a script. */
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';

export interface OwnProgram {
  /** What stands before the arguments of `plat`: Node and the file of the program, or the executable. */
  readonly plat: readonly string[];
  /** The same for the `etcd` of `plat envtest`. */
  readonly etcd: readonly string[];
}

/** The first argument with which the executable is `etcd`. */
export const ETCD_ARGUMENT = '__etcd';

/** Throws in a process of another program, such as one that embeds a server. */
export function ownProgram(argv: readonly string[] = process.argv): OwnProgram {
  const node = process.execPath;
  if (isSea()) return { plat: [node], etcd: [node, ETCD_ARGUMENT] };
  const file = argv[1] === undefined ? '' : realpathSync(argv[1]);
  if (!file.endsWith('plat.js')) throw new Error(`this command can be run by the program plat alone, not by ${file}`);
  return builtProgram(node, file);
}

/** The program of a package: `file` is its `dist/plat.js`. */
export const builtProgram = (node: string, file: string): OwnProgram => ({
  plat: [node, file],
  etcd: [node, join(dirname(file), 'etcd.cjs')],
});
