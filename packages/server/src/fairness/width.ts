/**
 * How many seats a request needs. A seat is one small request: a list of many objects takes several, and so does a change
 * that go to many watchers, for the time that takes.
 *
 *   get, watch (until it has begun), review          1
 *   list of 1,000 objects                            10, one for every 100
 *   list of 1,000 objects with limit=100             1; with a selector 10: all are looked at
 *   list of a namespace                              as many as its own objects need
 *   update of a kind with 200 watches                1, and 10 for 10 ms afterwards
 */
import type { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Context } from '../context.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { Width } from './level.ts';

const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
const MOST_SEATS = 10;
/** Time in which one seat serves WATCHES_PER_SEAT watchers. */
const EVENT_MS = 5;

const simple = (seats: number): Width => ({ seats, finalSeats: 0, finalMs: 0 });
/** By number of seats. */
const simpleWidths: readonly Width[] = Array.from({ length: MOST_SEATS + 1 }, (_, seats) => simple(seats));
export const oneSeat = simpleWidths[1] as Width;

/** `chunks`: a limit ends a list early; false where the server ignores it. */
export function widthOf(catalog: Catalog, ctx: Context, chunks: boolean): Width {
  const { info } = ctx;
  switch (info.verb) {
    case 'list':
      return info.resourceRequest && info.name === '' ? listWidth(catalog, ctx, chunks) : oneSeat;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return info.resourceRequest ? changeWidth(catalog, ctx) : oneSeat;
    default:
      return oneSeat;
  }
}

function listWidth(catalog: Catalog, ctx: Context, chunks: boolean): Width {
  const { info } = ctx;
  const collection = ctx.route.resource(catalog)?.collection;
  // How many there are is not known, but that they are many.
  if (collection?.pending !== undefined) return simpleWidths[MOST_SEATS] as Width;
  const items = collection?.items;
  if (items === undefined || items.size <= OBJECTS_PER_SEAT) return oneSeat;
  const storedCount = info.namespace === '' ? items.size : countBelow(items, `${info.namespace}/`);
  return simpleWidths[seatsFor(ctx.search === '' || !chunks ? storedCount : lookedAt(ctx, storedCount))] as Width;
}
/** Objects of a namespace, as far as they make a difference. */
function countBelow(items: Pick<SortedMap<unknown>, 'each'>, prefix: string): number {
  let count = 0;
  items.each(prefix, (_, key) => {
    if (!key.startsWith(prefix)) return false;
    return ++count < OBJECTS_PER_SEAT * MOST_SEATS;
  });
  return count;
}
const seatsFor = (objects: number): number => Math.min(Math.max(Math.ceil(objects / OBJECTS_PER_SEAT), 1), MOST_SEATS);

/** With a limit and no selector a list ends early; version 0 is answered whole, whatever the limit. */
function lookedAt(ctx: Context, storedCount: number): number {
  const limit = Number(ctx.param('limit') ?? 0);
  const whole = !(limit > 0 && limit < storedCount) || ctx.param('resourceVersion') === '0';
  return whole || ctx.query.has('labelSelector') || ctx.query.has('fieldSelector') ? storedCount : limit;
}

function changeWidth(catalog: Catalog, ctx: Context): Width {
  const watches = ctx.route.resource(catalog)?.collection?.watchers ?? 0;
  if (watches < WATCHES_PER_SEAT || ctx.search.includes('dryRun=All')) return oneSeat;
  const seats = Math.round(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.min(seats, MOST_SEATS);
  return { seats: 1, finalSeats, finalMs: (seats * EVENT_MS) / finalSeats };
}
