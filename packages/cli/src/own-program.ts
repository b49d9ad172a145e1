/** How this program is run again: by another process, or from a script. */
import { realpathSync } from 'node:fs';

export interface OwnProgram {
  readonly node: string;
  /** The file of the program. */
  readonly file: string;
}

/** Throws in a process of another program, such as one that embeds a server. */
export function ownProgram(argv: readonly string[] = process.argv): OwnProgram {
  const file = argv[1] === undefined ? '' : realpathSync(argv[1]);
  if (!file.endsWith('plat.js')) throw new Error(`this command can be run by the program plat alone, not by ${file}`);
  return { node: process.execPath, file };
}
