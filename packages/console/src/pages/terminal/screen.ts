/** The terminal on the page: xterm.js with the colours of the console. */
import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

const SCROLLBACK_LINES = 5000;

export interface ScreenOptions {
  readonly onInput: (text: string) => void;
  readonly onResize: (columns: number, rows: number) => void;
  /** The keys that leave it were pressed: it takes all others. */
  readonly onLeave: () => void;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #resized: ResizeObserver;
  readonly #darkness = window.matchMedia('(prefers-color-scheme: dark)');
  readonly #setTheme = (): void => {
    this.#terminal.options.theme = themeOf(this.#element);
  };
  readonly #element: HTMLElement;

  /** Shows a terminal in an element until `close`. */
  constructor(element: HTMLElement, { onInput, onResize, onLeave }: ScreenOptions) {
    this.#element = element;
    const terminal = new Terminal({
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 13,
      scrollback: SCROLLBACK_LINES,
      cursorBlink: false,
      screenReaderMode: true,
      minimumContrastRatio: 4.5,
      theme: themeOf(element),
      // What a program prints leads nowhere.
      linkHandler: { activate: () => undefined },
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    terminal.attachCustomKeyEventHandler((event) => {
      if (!event.ctrlKey || !event.shiftKey || event.key.toLowerCase() !== 'e') return true;
      event.preventDefault();
      if (event.type === 'keydown') onLeave();
      return false;
    });
    terminal.onData(onInput);
    terminal.onResize(({ cols, rows }) => onResize(cols, rows));
    this.#terminal = terminal;
    this.#darkness.addEventListener('change', this.#setTheme);
    this.#resized = new ResizeObserver(() => fit.fit());
    this.#resized.observe(element);
    fit.fit();
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  focus(): void {
    this.#terminal.focus();
  }

  write(bytes: Uint8Array, shown: () => void): void {
    this.#terminal.write(bytes, shown);
  }

  /** An empty screen for another command. */
  reset(): void {
    this.#terminal.reset();
  }

  close(): void {
    this.#resized.disconnect();
    this.#darkness.removeEventListener('change', this.#setTheme);
    this.#terminal.dispose();
  }
}

/** Black and white of terminals are those of the page; other colours are made readable on it. */
function themeOf(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    background: colour('--back-raised'),
    foreground: colour('--text'),
    cursor: colour('--accent'),
    selectionBackground: colour('--back-selected'),
    red: colour('--bad'),
    green: colour('--good'),
    yellow: colour('--busy'),
    blue: colour('--accent'),
  };
}
