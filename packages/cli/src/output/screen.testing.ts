/** The screen of a terminal, for tests: what is left of texts and sequences that move, clear and colour. */
export class Screen {
  private readonly size: { readonly width: number; readonly height: number };
  private rows: string[] = [''];
  private row = 0;
  private column = 0;
  cursorIsShown = true;
  /** How often something was written. */
  written = 0;

  constructor(size: { readonly width: number; readonly height: number }) {
    this.size = size;
  }
  get lines(): string[] {
    const lines = this.rows.map((line) => line.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }
  write(text: string): void {
    this.written++;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the sequences of terminals.
    for (const [, sequence, argument = '', letter = '', plain = ''] of text.matchAll(/(\u001b\[([?\d;]*)([A-Za-z]))|([\s\S])/gu)) {
      if (sequence === undefined) this.character(plain);
      else this.control(argument, letter);
    }
  }
  /** Lines that became too long take several, as in terminals that keep their texts. */
  resize(): void {
    const { width } = this.size;
    const before = this.rows.slice(0, this.row);
    const wrapped = (lines: readonly string[]): string[] =>
      lines.flatMap((line) => line.trimEnd().match(new RegExp(`.{1,${width}}`, 'gu')) ?? ['']);
    this.rows = [...wrapped(before), ...wrapped(this.rows.slice(this.row))];
    this.row = wrapped(before).length;
    this.scroll();
  }
  private character(c: string): void {
    if (c === '\r') this.column = 0;
    else if (c === '\n') {
      this.row++;
      this.column = 0;
      this.rows[this.row] ??= '';
      this.scroll();
    } else {
      if (this.column >= this.size.width) this.character('\n');
      const line = this.rows[this.row] as string;
      this.rows[this.row] = line.padEnd(this.column).slice(0, this.column) + c + line.slice(this.column + 1);
      this.column++;
    }
  }
  /** What leaves the screen at the top is gone for these tests. */
  private scroll(): void {
    while (this.row >= this.size.height) {
      this.rows.shift();
      this.row--;
    }
  }
  private control(argument: string, letter: string): void {
    if (letter === 'A') this.row = Math.max(0, this.row - Number(argument || 1));
    else if (letter === 'K') this.rows[this.row] = (this.rows[this.row] as string).slice(0, this.column);
    else if (letter === 'J') {
      this.rows[this.row] = (this.rows[this.row] as string).slice(0, this.column);
      this.rows.length = this.row + 1;
    } else if (argument === '?25') this.cursorIsShown = letter === 'h';
    else if (letter !== 'm') throw new Error(`the screen does not have the sequence ${argument}${letter}`);
  }
}
