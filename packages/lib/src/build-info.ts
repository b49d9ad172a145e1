/** What this program was built from: scripts/build.mjs defines it. Run from its sources, the program does not know. */
export interface BuiltFrom {
  /** Empty: not known. */
  readonly commit: string;
  readonly treeState: '' | 'clean' | 'dirty';
  /** Time of the commit, so that the same sources make the same program. */
  readonly date: string;
}
declare const PLAT_BUILT_FROM: BuiltFrom | undefined;

const unknownSource: BuiltFrom = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };
export const builtFrom: BuiltFrom = typeof PLAT_BUILT_FROM === 'undefined' ? unknownSource : PLAT_BUILT_FROM;
