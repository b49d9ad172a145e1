/** Text in the user's editor: PLAT_EDITOR, else KUBE_EDITOR, EDITOR, or vi (Windows: notepad). */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IO } from '../command.ts';
import { lendTerminal } from '../terminal/interrupt.ts';
import { shellQuoted } from '../terminal/shell-word.ts';

/** The editor, and the line that starts it with a file. */
export function editorLine(file: string, { env, platform }: Pick<IO, 'env' | 'platform'>): { editor: string; line: string } {
  const isWindows = platform === 'win32';
  const editor = env.PLAT_EDITOR || env.KUBE_EDITOR || env.EDITOR || (isWindows ? 'notepad' : 'vi');
  // A file of Windows has no quotes in its name, and its backslashes stay single.
  return { editor, line: `${editor} ${isWindows ? `"${file}"` : shellQuoted(file)}` };
}

export function openEditor(file: string, io: IO): Promise<void> {
  const { editor, line } = editorLine(file, io);
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = spawn(line, { shell: true, stdio: 'inherit', env: io.env as NodeJS.ProcessEnv });
      const failed = (why: string): void => reject(new Error(`the editor ${JSON.stringify(editor)} ${why}; set EDITOR to another`));
      child.on('error', (error) => failed(`cannot be started: ${error.message}`));
      child.on('close', (code) => (code === 0 ? resolve() : failed(`ended with ${code}`)));
    });
  return lendTerminal(io, run);
}

/** A file for the editor in a directory of its own; it is removed unless its edits are to be kept. */
export class EditedFile {
  readonly path: string;
  private readonly directory: string;
  private readonly io: IO;
  private readonly lineEnd: string;
  /** It has edits that are not stored yet. */
  keep = false;

  private constructor(directory: string, path: string, io: IO, windowsLineEndings: boolean) {
    this.directory = directory;
    this.path = path;
    this.io = io;
    this.lineEnd = windowsLineEndings ? '\r\n' : '\n';
  }
  static async make(name: string, io: IO, windowsLineEndings: boolean): Promise<EditedFile> {
    const directory = await mkdtemp(join(tmpdir(), `${io.program}-edit-`));
    return new EditedFile(directory, join(directory, name), io, windowsLineEndings);
  }
  /** The text after the editor was closed. */
  async edit(text: string): Promise<string> {
    await writeFile(this.path, this.lineEnd === '\n' ? text : text.replaceAll('\n', this.lineEnd), { mode: 0o600 });
    await openEditor(this.path, this.io);
    return (await readFile(this.path, 'utf8')).replaceAll('\r\n', '\n');
  }
  async close(): Promise<void> {
    if (!this.keep) await rm(this.directory, { recursive: true, force: true });
  }
}

/** Removes only the comments at the head of a file, which a command wrote: a # within a value must stay. */
export const withoutComments = (text: string): string => text.replace(/^(?:[ \t]*#.*(?:\r?\n|$)|[ \t]*\r?\n)*/, '');
