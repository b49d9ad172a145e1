/**
 * What this program was built from. A build from a git checkout puts a file with the same names in the place of this one
 * (scripts/build.mjs); run from its sources, the program does not know.
 */
export interface BuiltFrom {
  /** Empty: not known. */
  readonly commit: string;
  readonly treeState: '' | 'clean' | 'dirty';
  /** Time of the commit, so that the same sources make the same program. */
  readonly date: string;
}
export const builtFrom: BuiltFrom = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };
