/** What commands wrote in containers, by container or volume. A server has one; the oldest entries are forgotten. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { KeptFiles } from './shell/files.ts';

/** The pod in which a command of a client wrote. */
export interface Writer {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class ContainerFiles extends BoundedCache<string, KeptFiles> {
  private readonly listeners = new Set<(writer: Writer) => void>();

  /** Calls the listener before each change of a file by a client. Returns what ends this. */
  onWrite(listener: (writer: Writer) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
  wrote(writer: Writer): void {
    for (const listener of this.listeners) listener(writer);
  }
}
