/** How this program is run again: by another process, or from a script. */
import { realpathSync } from 'node:fs';

export interface OwnProgram {
  /** Node and its flags. */
  readonly node: readonly string[];
  /** The file of the program. */
  readonly file: string;
}

/** Node runs the program with these flags; scripts/build.mjs says why. */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=64'];

/** Throws in a process of another program, such as one that embeds a server. */
export function ownProgram(argv: readonly string[] = process.argv): OwnProgram {
  const file = argv[1] === undefined ? '' : realpathSync(argv[1]);
  if (!file.endsWith('plat.js')) throw new Error(`this command can be run by the program plat alone, not by ${file}`);
  return { node: [process.execPath, ...nodeFlags], file };
}
