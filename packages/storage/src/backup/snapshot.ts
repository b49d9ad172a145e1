/** The entries of one revision of a store and the history up to it, in pages of bounded size. */
import type { Engine, Entry } from '../engine.ts';
import type { VersionsResult } from '../history.ts';
import type { BackupVersion } from './format.ts';

/** Entries of a page: the first is small, since nothing is known of their size. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 128;
/** Size that pages aim at. */
const PAGE_BYTES = 1024 * 1024;

/** The revision must stay readable meanwhile: see `Engine.hold`. */
export async function* snapshotPages(engine: Engine, at: number): AsyncGenerator<readonly Entry[]> {
  let from: string | undefined;
  let limit = FIRST_PAGE;
  for (;;) {
    const page = await engine.range({ prefix: '', at, limit, uncounted: true, expiries: true, ...(from !== undefined && { from }) });
    const last = page.entries[page.entries.length - 1];
    if (last === undefined) return;
    yield page.entries;
    if (!page.more) return;
    from = `${last.key}\u0000`;
    const bytes = page.entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    limit = Math.max(1, Math.min(LARGEST_PAGE, Math.floor((PAGE_BYTES * page.entries.length) / Math.max(1, bytes))));
  }
}

/** The versions of history up to a revision, newest first. Those that cannot be read are left out. */
export async function* historyPages(engine: Engine, at: number): AsyncGenerator<readonly BackupVersion[]> {
  for (let before: number | undefined = at + 1; before !== undefined; ) {
    const page: VersionsResult = await engine.history.versions({ prefix: '', before, limit: LARGEST_PAGE });
    const versions: BackupVersion[] = [];
    for (const { unreadable, ...version } of page.versions) {
      if (unreadable !== undefined) continue;
      const isEntry = version.type === 'put' && (await engine.get(version.key, at))?.revision === version.revision;
      versions.push(isEntry ? { ...version, value: undefined, isEntry } : { ...version, isEntry });
    }
    if (versions.length > 0) yield versions;
    before = page.next;
  }
}
