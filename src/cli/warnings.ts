/** Warnings in the headers of responses. */
import type { IO } from './command.ts';

/** Prints each warning once, on the standard error. */
export class Warnings {
  readonly #io: IO;
  readonly #printed = new Set<string>();

  constructor(io: IO) {
    this.#io = io;
  }
  /** Suppresses a warning that was already printed in another form. */
  note(text: string): void {
    this.#printed.add(text);
  }
  /** `header`: the value of a `Warning` header, which may hold several. */
  print(header: string | undefined): void {
    for (const [, quoted = ''] of (header ?? '').matchAll(/\b\d{3} \S+ "((?:\\.|[^"\\])*)"/g)) {
      const text = quoted.replace(/\\(.)/g, '$1');
      if (this.#printed.has(text)) continue;
      this.#printed.add(text);
      this.#io.err(`Warning: ${text}\n`);
    }
  }
}
