/**
 * Programs on files. What is not known of an image is not an error: a file that may be there is read as an empty one, and copied as
 * such.
 *
 *   cp /app/entrypoint /shared/      in an image of which nothing is known: /shared/entrypoint, empty
 *   cat /data/none                   on an empty volume: fails
 */
import { own } from '@plat-dev/lib/own';
import { copies } from './copies.ts';
import { FILE_BYTES, type Files } from './files.ts';
import { listings } from './listings.ts';
import { type Environment, exits, optionsOf, type Program, type Running } from './program.ts';
import { linesOf } from './text-lines.ts';
import { NotSupported } from './words.ts';
import { FOREVER_MS } from './work.ts';

/** The text of a file, empty for one that may be there; undefined if there is none. */
export const textIn = (files: Files, path: string): string | undefined => files.read(path) ?? (files.assume(path) ? '' : undefined);

export const noFile = (program: string, path: string, files: Files): { err: string } => ({
  err: `${program}: ${files.isDirectory(path) ? 'read error: Is a directory' : `can't open '${path}': No such file or directory`}\n`,
});

export const filePrograms: Readonly<Record<string, Program>> = {
  ...copies,
  ...listings,
  chmod: exits(0),
  chown: exits(0),
  *cd(args, { files, variables }) {
    const { operands } = optionsOf(args);
    const path = operands[0] ?? variables.get('HOME') ?? '/';
    if (!files.isDirectory(path) && !files.assume(path)) {
      yield { err: `sh: cd: can't cd to ${path}: No such file or directory\n` };
      return 1;
    }
    files.directory = files.absolute(path);
    return 0;
  },
  *pwd(_args, { files }) {
    yield { out: `${files.directory}\n` };
    return 0;
  },
  *cat(args, { files }) {
    let code = 0;
    for (const path of args.length === 0 ? ['-'] : args) {
      if (path === '-') {
        for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) yield { out: line };
        continue;
      }
      const text = textIn(files, path);
      if (text !== undefined) yield { out: text };
      else {
        code = 1;
        yield noFile('cat', path, files);
      }
    }
    return code;
  },
  head: (args, environment) => part(args, environment, 'head'),
  *tail(args, environment) {
    const code = yield* part(args, environment, 'tail');
    if (code === 0 && args.some((arg) => /^-[a-z]*[fF]/.test(arg) || arg.startsWith('--follow'))) yield { waitMs: FOREVER_MS };
    return code;
  },
  *dd(args, { files }) {
    const operands = new Map(args.map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]));
    const source = operands.get('if');
    const most = operands.has('count') ? Number(operands.get('count')) * sizeOf(operands.get('bs') ?? '512') : Number.POSITIVE_INFINITY;
    if (!(most >= 0)) {
      yield { err: `dd: invalid number '${operands.get('count')}'\n` };
      return 1;
    }
    let text: string | undefined = '';
    if (source === undefined || source === '/dev/stdin') {
      for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) if (text.length <= FILE_BYTES) text += line;
    } else text = source === '/dev/zero' ? '\0'.repeat(Math.min(most, FILE_BYTES + 1)) : textIn(files, source);
    if (text === undefined) {
      yield { err: `dd: can't open '${source}': No such file or directory\n` };
      return 1;
    }
    text = text.slice(0, most);
    const target = operands.get('of');
    if (target === undefined) yield { out: text };
    else if (target !== '/dev/null' && !files.write(target, text)) {
      yield { err: `dd: ${target}: No space left on device\n` };
      return 1;
    }
    yield { err: `${text.length} bytes copied\n` };
    return 0;
  },
  *mkdir(args, { files }) {
    const isParent = args.some((arg) => /^-[a-z]*p/.test(arg) || arg === '--parents');
    const withMode = args.indexOf('-m');
    for (const path of optionsOf(withMode < 0 ? args : args.toSpliced(withMode, 2)).operands) {
      if (files.exists(path) && !isParent) {
        yield { err: `mkdir: can't create directory '${path}': File exists\n` };
        return 1;
      }
      if (files.makeDirectory(path)) continue;
      yield { err: `mkdir: can't create directory '${path}': No space left on device\n` };
      return 1;
    }
    return 0;
  },
  *touch(args, { files }) {
    for (const path of optionsOf(args).operands) {
      if (files.exists(path) || files.write(path, '')) continue;
      yield { err: `touch: ${path}: No space left on device\n` };
      return 1;
    }
    return 0;
  },
  rm: (args, environment) => remove(args, environment, 'rm'),
  rmdir: (args, environment) => remove(args, environment, 'rmdir'),
  *tee(args, { files }) {
    let text = '';
    for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) {
      if (text.length <= FILE_BYTES) text += line;
      yield { out: line };
    }
    for (const path of optionsOf(args).operands) files.write(path, text);
    return 0;
  },
};

function* remove(args: readonly string[], { files }: Environment, program: 'rm' | 'rmdir'): Running {
  const { letters, operands } = optionsOf(args);
  let code = 0;
  for (const path of operands) {
    if (files.remove(path) || letters.includes('f') || files.assume(path)) continue;
    code = 1;
    yield { err: `${program}: can't remove '${path}': No such file or directory\n` };
  }
  return code;
}

/** `512`, `1k`, `4M` */
const sizeOf = (text: string): number => {
  const match = /^(\d+)([kKM]?)/.exec(text);
  return match === null ? 0 : Number(match[1]) * (own({ k: 1024, K: 1024, M: 1 << 20 }, match[2] ?? '') ?? 1);
};

const LINES = 10;

/** The first or last lines of files: `-n 5`, `-n5`, `-5`; of the last ones also `+5`, from that one on. */
function* part(args: readonly string[], { files }: Environment, program: 'head' | 'tail'): Running {
  const operands: string[] = [];
  let countText = String(LINES);
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    const number = /^-(?:[fF]*n)?(\+?\d+)$/.exec(arg);
    if (/^-[fF]*n$/.test(arg)) countText = args[++i] ?? '';
    else if (number !== null) countText = number[1] as string;
    else if (!arg.startsWith('-') || arg === '-') operands.push(arg);
    else if (!/^-[fFq]+$|^--follow\b|^--retry$/.test(arg)) throw new NotSupported(`${program} ${arg}`);
  }
  const count = Number(countText);
  if (!/^\+?\d+$/.test(countText)) {
    yield { err: `${program}: invalid number '${countText}'\n` };
    return 1;
  }
  for (const path of operands.length === 0 ? ['-'] : operands) {
    const text = path === '-' ? yield* input() : textIn(files, path);
    if (text === undefined) {
      yield noFile(program, path, files);
      return 1;
    }
    const lines = linesOf(text);
    const selectedLines =
      program === 'head' ? lines.slice(0, count) : countText.startsWith('+') ? lines.slice(count - 1) : lines.slice(-count || lines.length);
    if (selectedLines.length > 0) yield { out: selectedLines.join('') };
  }
  return 0;
}
function* input(): Generator<{ readonly input: true }, string, string | undefined> {
  let text = '';
  for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) if (text.length <= FILE_BYTES) text += line;
  return text;
}
