/** A real terminal (tmux) in which a test types commands, and looks at the screen until it shows what it should. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { programDirectory, programMissing } from './program.ts';

/** Why tests of the terminal cannot run here; undefined: they can. */
export const terminalMissing: string | undefined = programMissing ?? missing();
function missing(): string | undefined {
  try {
    const version = /(\d+\.\d+)/.exec(execFileSync('tmux', ['-V'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString())?.[1];
    // Older ones cannot be given variables.
    return version === undefined || Number(version) < 3.2 ? 'tmux is older than 3.2' : undefined;
  } catch {
    return 'there is no tmux on the PATH';
  }
}
/** Why tests of the pager cannot run here; undefined: they can. */
export const pagerMissing: string | undefined = withoutPager();
function withoutPager(): string | undefined {
  try {
    execFileSync('less', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no less on the PATH';
  }
}

const call = promisify(execFile);
/** Each look at the screen starts a program, which takes time from the one that is waited for. */
const LOOK_EVERY = { interval: 150 };

export class RealTerminal {
  private readonly socket: string;

  private constructor(socket: string) {
    this.socket = socket;
  }
  /** Starts a shell that knows `plat`. */
  static async start(env: Readonly<Record<string, string>>, width = 80, height = 24): Promise<RealTerminal> {
    const directory = temporaryDirectory('plat-term');
    const program = join(directory, 'plat');
    writeFileSync(
      program,
      `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(programDirectory, 'plat.js'))} "$@"\n`,
    );
    chmodSync(program, 0o755);
    const terminal = new RealTerminal(join(directory, 's'));
    const variables = { HOME: directory, ENV: '', ...env };
    const given = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    await terminal.tmux([
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      String(width),
      '-y',
      String(height),
      ...given,
      '-c',
      directory,
      'sh',
    ]);
    // Shells have a prompt and a PATH of their own for some users.
    try {
      await terminal.type(`PATH=${directory}:$PATH PS1='$ '; clear`);
      await terminal.shows(/^\$\s*$/);
      return terminal;
    } catch (error) {
      await terminal.close();
      throw error;
    }
  }
  private async tmux(args: readonly string[]): Promise<string> {
    // Nothing of whoever runs the tests: PAGER, LESS, EDITOR, NO_COLOR and the like change what is shown.
    const env = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, LC_ALL: 'C.UTF-8' };
    const { stdout } = await call('tmux', ['-S', this.socket, ...args], { env });
    return stdout;
  }
  /** Types a line. */
  async type(line: string): Promise<void> {
    await this.write(line);
    await this.key('Enter');
  }
  /** Types a text, and nothing after it. */
  async write(text: string): Promise<void> {
    await this.tmux(['send-keys', '-l', text]);
  }
  /** Presses a key: `C-c`, `q`, `Enter`. */
  async key(name: string): Promise<void> {
    await this.tmux(['send-keys', name]);
  }
  /** The text on the screen; with `colours` also the sequences that set these. */
  screen(colours = false): Promise<string> {
    return this.tmux(['capture-pane', '-p', ...(colours ? ['-e'] : [])]);
  }
  /** Resolves with the screen when it shows a text. Only a terminal that never does takes long. */
  async shows(wanted: RegExp, colours = false): Promise<string> {
    let screen = '';
    await expect
      .poll(async () => {
        screen = await this.screen(colours);
        return screen;
      }, LOOK_EVERY)
      .toMatch(wanted);
    return screen;
  }
  async hides(unwanted: RegExp): Promise<void> {
    await expect.poll(() => this.screen(), LOOK_EVERY).not.toMatch(unwanted);
  }
  async resize(width: number, height: number): Promise<void> {
    await this.tmux(['resize-window', '-x', String(width), '-y', String(height)]);
  }
  async cursorIsShown(): Promise<boolean> {
    return (await this.tmux(['display-message', '-p', '#{cursor_flag}'])).trim() === '1';
  }
  /** Clears the screen, so that what comes next is not mistaken for what was there. */
  async clear(): Promise<void> {
    await this.type('clear');
    await this.shows(/^\$\s*$/);
  }
  async close(): Promise<void> {
    await this.tmux(['kill-server']).catch(() => {});
  }
}
