/** Warnings in the headers of responses. */
import type { IO } from '../command.ts';

const colouredLabel = Buffer.from('\x1b[33;1mWarning:\x1b[0m');

/** Prints each warning once, on the standard error. */
export class Warnings {
  readonly #io: IO;
  readonly #printed = new Set<string>();
  readonly #received = new Set<string>();

  constructor(io: IO) {
    this.#io = io;
  }
  /** How many different warnings the server sent. */
  get count(): number {
    return this.#received.size;
  }
  /** Suppresses a warning that was already printed in another form. */
  note(text: string): void {
    this.#printed.add(text);
  }
  /** `header`: the value of a `Warning` header, which may hold several. */
  print(header: string | undefined): void {
    for (const [, quoted = ''] of (header ?? '').matchAll(/\b\d{3} \S+ "((?:\\.|[^"\\])*)"/g)) {
      const text = quoted.replace(/\\(.)/g, '$1');
      this.#received.add(text);
      if (this.#printed.has(text)) continue;
      this.#printed.add(text);
      this.#label();
      this.#io.err(` ${text}\n`);
    }
  }
  #label(): void {
    const { terminal, env } = this.#io;
    const coloured = terminal.errorsAreShown === true && !env.NO_COLOR && env.TERM !== 'dumb';
    if (coloured) terminal.writeError(colouredLabel);
    else this.#io.err('Warning:');
  }
}
