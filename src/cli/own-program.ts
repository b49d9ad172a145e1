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

/** Throws where the process is not this program: one that has a server within itself. */
export function ownProgram(argv: readonly string[] = process.argv): OwnProgram {
  const file = argv[1] === undefined ? '' : realpathSync(argv[1]);
  if (!file.endsWith('plat.js')) throw new Error(`${file} is not the program plat: this command runs from it alone`);
  return { node: [process.execPath, ...nodeFlags], file };
}
