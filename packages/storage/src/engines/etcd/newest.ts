/**
 * The newest revision, for many callers with few requests. A caller gets the result of a request that
 * began after its call, never of one in progress, which may have been answered before.
 *
 * A request begins at the end of the turn of the event loop, for all callers of that turn, and one at a time: those who come
 * while it is in progress share the next one.
 */
import { inNextTurn } from '@plat-dev/lib/next-turn';

interface Question {
  readonly answer: Promise<number>;
  readonly start: () => void;
}

export class NewestRevision {
  readonly #ask: () => Promise<number>;
  readonly #soon: (call: () => void) => void;
  #underWay = false;
  #next: Question | undefined;

  /** `soon` calls at the end of this turn of the event loop. */
  constructor(ask: () => Promise<number>, soon: (call: () => void) => void = inNextTurn) {
    this.#ask = ask;
    this.#soon = soon;
  }

  get(): Promise<number> {
    if (this.#next === undefined) {
      this.#next = this.#question();
      if (!this.#underWay) this.#begin();
    }
    return this.#next.answer;
  }

  #question(): Question {
    let start: () => void = () => {};
    const answer = new Promise<number>((resolve) => {
      start = () => resolve(this.#ask().finally(this.#ended));
    });
    return { answer, start };
  }

  #begin(): void {
    this.#underWay = true;
    this.#soon(() => {
      const next = this.#next;
      this.#next = undefined;
      next?.start();
    });
  }

  readonly #ended = (): void => {
    this.#underWay = false;
    if (this.#next !== undefined) this.#begin();
  };
}
