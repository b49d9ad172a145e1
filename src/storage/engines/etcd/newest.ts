/**
 * The newest revision, for many callers with few requests. A caller gets the result of a request that
 * began after its call, never of one in progress, which may have been answered before.
 */
/** Maximum concurrent requests; further callers share the next one. */
const MOST_QUESTIONS = 2;

export class NewestRevision {
  readonly #ask: () => Promise<number>;
  #underWay = 0;
  #next: { readonly answer: Promise<number>; readonly start: () => void } | undefined;

  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  get(): Promise<number> {
    if (this.#next !== undefined) return this.#next.answer;
    if (this.#underWay < MOST_QUESTIONS) return this.#start();
    let start: () => void = () => {};
    const answer = new Promise<number>((resolve) => {
      start = () => resolve(this.#start());
    });
    this.#next = { answer, start };
    return answer;
  }

  #start(): Promise<number> {
    this.#underWay++;
    return this.#ask().finally(() => {
      this.#underWay--;
      const next = this.#next;
      this.#next = undefined;
      next?.start();
    });
  }
}
