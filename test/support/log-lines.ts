/** A log whose lines a test waits for. */
import { type Log, silentLog } from '../../packages/lib/src/log.ts';

export class Lines {
  private waiting: { begins: string; done: () => void }[] = [];
  readonly log: Log = this.of();
  private of(): Log {
    const note = (message: string): void => {
      for (const one of this.waiting.filter(({ begins }) => message.startsWith(begins))) one.done();
      this.waiting = this.waiting.filter(({ begins }) => !message.startsWith(begins));
    };
    return { ...silentLog, info: note, error: note, warn: note, child: () => this.log };
  }
  /** Resolves with the next line that begins so, of those logged from now on. */
  next(begins: string): Promise<void> {
    return new Promise((done) => this.waiting.push({ begins, done }));
  }
}
