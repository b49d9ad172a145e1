/**
 * Tables that survive a write without room. The room is checked before every transaction, but other processes may
 * take it meanwhile; after that the database library writes nothing any more until its file is reopened. Reads go on
 * until then. The next write reopens the file: it has checked that there is room again. Nothing is lost,
 * since acknowledged commits are in the journal until a transaction of the tables is durable.
 *
 *   whole     writes go to the library                       one finds no room → full
 *   full      reads go on, nothing is written                the next write → opening
 *   opening   a few milliseconds in which nothing is read    opened → whole, failed → full
 */
import { StoreFull, StoreUnavailable } from '../../engine.ts';
import type { Tables } from './table.ts';

const TABLES = [
  'meta',
  'versions',
  'rawVersions',
  'records',
  'recordFacts',
  'rawRecords',
  'recordValues',
  'recordSizes',
  'expiries',
] as const;
/** Replaces the tables while there are none: reads fail with an error that they can be retried. */
const unavailable = new Proxy(
  {},
  {
    get() {
      throw beingOpened();
    },
  },
);
const beingOpened = (): StoreUnavailable => new StoreUnavailable('the store file is being opened again');
type Changing = { -readonly [Name in keyof Tables]: Tables[Name] };

/** `open` returns the reopened tables of the same file; `isFull` recognizes errors of a full disk. */
export function reopenable(first: Tables, open: () => Promise<Tables>, isFull: (error: unknown) => boolean): Tables {
  let current = first;
  let state: 'whole' | 'full' | 'opening' = 'whole';
  let isClosed = false;
  const holds = new Set<{ end: () => void; isValid: boolean }>();

  const reopen = async (): Promise<void> => {
    state = 'opening';
    try {
      // Held views belong to the file that is closed now.
      for (const hold of holds) {
        hold.end();
        hold.isValid = false;
      }
      holds.clear();
      for (const name of TABLES) Object.assign(tables, { [name]: unavailable });
      if (!isClosed) await current.close();
      isClosed = true;
      try {
        current = await open();
      } catch (error) {
        // Writes wait for it as they do for room: the next write retries.
        throw new StoreFull(`the store file cannot be opened again: ${(error as Error).message}`, { cause: error });
      }
      isClosed = false;
      for (const name of TABLES) Object.assign(tables, { [name]: current[name] });
      state = 'whole';
    } finally {
      if (state === 'opening') state = 'full';
    }
  };

  const tables: Changing = {
    ...first,
    get isReadable() {
      return state !== 'opening' && !isClosed;
    },
    async write(fill) {
      if (state !== 'whole') await reopen();
      try {
        await current.write(fill);
      } catch (error) {
        if (isFull(error)) state = 'full';
        throw error;
      }
    },
    stats() {
      if (!tables.isReadable) throw beingOpened();
      return current.stats();
    },
    hold() {
      const end = current.hold();
      const hold = { end, isValid: true };
      holds.add(hold);
      return () => {
        if (holds.delete(hold)) end();
        return hold.isValid;
      };
    },
    close: async () => {
      if (!isClosed) await current.close();
    },
  };
  return tables;
}
