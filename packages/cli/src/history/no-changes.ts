/** What commands say where a user made none of the changes that were asked for. */
import { printable } from '../output/print-table.ts';
import type { Work } from '../work.ts';
import { type Change, changesOf, type HistoryFilter, type HistoryPlace } from './versions.ts';

/** Changes that are looked at for the full name of a service account. */
const mostChanges = 1000;

/** `No changes by bob; did you mean --by system:serviceaccount:team:bob?` */
export async function noChangesText(
  work: Work,
  user: string,
  places: readonly HistoryPlace[],
  filter: Omit<HistoryFilter, 'user' | 'full' | 'pageSize'>,
  isWanted: (change: Change) => boolean,
): Promise<string> {
  if (user === '') return 'No changes found.';
  const { changes } = await changesOf(work, places, filter, mostChanges, isWanted);
  const accounts = new Set(changes.map(({ version }) => version.user ?? '').filter((name) => isAccount(name, user)));
  const hint = accounts.size === 0 ? '' : `; did you mean ${[...accounts].map((name) => `--by ${name}`).join(' or ')}?`;
  return printable(`No changes by ${user}${hint}`);
}

const isAccount = (name: string, shortName: string): boolean =>
  name.startsWith('system:serviceaccount:') && name.split(':').length === 4 && name.endsWith(`:${shortName}`);
