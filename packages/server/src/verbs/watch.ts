/** watch: a stream of events in the negotiated representation. */
import type { Cancel } from '@plat-dev/lib/clock';
import { turnWithTime } from '@plat-dev/lib/slices';
import { expired } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import { keepsWritten } from '../in-process.ts';
import type { Resource } from '../registry/catalog.ts';
import { watch as follow } from '../registry/watch.ts';
import { readOptions, selectionOf } from '../request/options.ts';
import type { Services } from '../services.ts';
import { Frames } from '../watch/frames.ts';
import { WatchStream } from '../watch/stream.ts';
import { includeObject, objectOffer } from './read.ts';

/** A bookmark comes about this long before the end of a watch, and once a minute before. */
export const BOOKMARK_BEFORE_END_MS = 2000;
const BOOKMARK_EVERY_MS = 60_000;
/** Longer ones have a selector that takes time. */
const LONG_URL = 1024;
/** Watches within the process need no other server to balance load with: they last so many times longer. */
const LONGER_IN_PROCESS = 100;

export async function watchObjects(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { registry, limits } = services;
  const representation = services.negotiator.negotiate(ctx.header('accept'), objectOffer(resource), true);
  const options = readOptions(ctx, registry.catalog, true);
  // Many clients may begin at once. One that names a version, or thousands of requirements, may wait; one from now on begins now, and
  // so do controllers.
  if (!ctx.inProcess && (options.resourceVersion !== '' || (ctx.req.url?.length ?? 0) > LONG_URL)) await turnWithTime();
  const selection = selectionOf(ctx, resource, ctx.info.namespace, ctx.info.legacyWatch ? ctx.info.name : '');
  const frames = new Frames(services, resource, representation, includeObject(ctx, representation));
  ctx.longRunning = true;
  // Zero is as good as none.
  const longest = ctx.inProcess ? LONGER_IN_PROCESS : 1;
  const seconds = options.timeoutSeconds || limits.minRequestTimeoutSeconds * longest * (1 + services.spread());
  const millis = seconds * 1000;
  const stream = new WatchStream({
    services,
    ctx,
    frames,
    contentType: representation.type,
    events: services.watchEvents(resource),
    marksInitial: options.initialEvents === true && options.bookmarks,
  });
  // The kind may change or go before the watch has begun.
  let [isStarted, over] = [false, false];
  const stay = resource.collection?.onClose((stale) => {
    over = true;
    if (stale) stream.fail(expired('objects that cannot be read were deleted, or can be read again; list and watch again'));
    else if (isStarted) stream.end();
  });
  const collection = resource.collection;
  const forget = collection !== undefined && keepsWritten(ctx.req) ? resource.versions.recent.follow(collection.prefix) : undefined;
  const stop = await follow(registry, resource, selection, options, stream).catch((error: unknown) => {
    stay?.();
    forget?.();
    throw error;
  });
  stream.begin(stop);
  ctx.seating.leave?.(ctx);
  isStarted = true;
  if (over) stream.end();
  const { clock } = services;
  const timers: Cancel[] = [];
  if (options.bookmarks) {
    const mark = () => {
      if (stream.upToDate) stream.bookmark(registry.cache.revision);
    };
    if (millis > BOOKMARK_BEFORE_END_MS) timers.push(clock.after(millis - BOOKMARK_BEFORE_END_MS, mark));
    // Within the process a watch resumes only after its timeout, and a bookmark comes before that.
    if (!ctx.inProcess) timers.push(clock.every(BOOKMARK_EVERY_MS, mark));
  }
  timers.push(clock.after(millis, () => stream.end()));
  await stream.done;
  stay?.();
  forget?.();
  for (const cancel of timers) cancel();
}
