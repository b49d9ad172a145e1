/**
 * The parts of a running system. Each has a name, starts after the parts that it needs, and closes before them: when the
 * system stops, and when a later part fails to start.
 *
 *   const parts = new Parts();
 *   const store = await parts.start('store', () => openStore(), (store) => store.close());
 *   await parts.start('listener', () => listen(store), (listener, hurry) => listener.close(hurry));
 *   await parts.close();        // the listener, then the store
 *   await parts.close(true);    // likewise, without waiting for clients
 */
import type { MaybePromise } from '@plat-dev/lib/when-ready';

/** Aborted when the shutdown must not wait any longer. */
export type Hurry = AbortSignal;
export type EndPart = (hurry: Hurry) => MaybePromise<void>;

export class Parts {
  private readonly startedParts: { readonly name: string; readonly end: EndPart }[] = [];
  private readonly hurry = new AbortController();
  private readonly starting: ((name: string) => void) | undefined;
  private closing: Promise<void> | undefined;
  private hasEnded = false;

  /** `starting` is called before each part starts, and may throw in its place, for tests. */
  constructor(starting?: (name: string) => void) {
    this.starting = starting;
  }

  /** Throws what `start` throws; earlier parts are then still to be closed. */
  async start<T>(name: string, start: () => MaybePromise<T>, end?: (part: T, hurry: Hurry) => MaybePromise<void>): Promise<T> {
    if (this.closing !== undefined) throw new Error(`cannot start ${name}: closing`);
    this.starting?.(name);
    const part = await start();
    const closing = this.closing as Promise<void> | undefined;
    if (closing !== undefined) {
      // All others have closed, or are about to: nothing else would close this one.
      await closing.catch(() => {});
      await end?.(part, this.hurry.signal);
      throw new Error(`cannot start ${name}: closing`);
    }
    if (end !== undefined) this.add(name, (hurry) => end(part, hurry));
    return part;
  }

  /** A part that is running already. One that is added during the shutdown is closed with the others. */
  add(name: string, end: EndPart): void {
    this.startedParts.push({ name, end });
    if (this.hasEnded) this.closing = this.endAll();
  }

  /**
   * Closes every part, the last one first, once; a second call waits for the same end, and can make it hurry. One that fails
   * to close does not keep the others from closing: the error names all that failed.
   */
  close(atOnce = false): Promise<void> {
    if (atOnce) this.hurry.abort();
    this.closing ??= this.endAll();
    return this.closing;
  }

  private async endAll(): Promise<void> {
    const failed: Error[] = [];
    this.hasEnded = false;
    for (let part = this.startedParts.pop(); part !== undefined; part = this.startedParts.pop()) {
      try {
        await part.end(this.hurry.signal);
      } catch (error) {
        failed.push(new Error(`cannot close ${part.name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }));
      }
    }
    this.hasEnded = true;
    if (failed.length === 1) throw failed[0];
    if (failed.length > 1) throw new AggregateError(failed, failed.map(({ message }) => message).join('; '));
  }
}
