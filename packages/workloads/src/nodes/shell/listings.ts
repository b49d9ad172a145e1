/** The programs `ls` and `find`. */
import type { Files } from './files.ts';
import { isLike } from './pattern.ts';
import { type Environment, optionsOf, type Program, type Running } from './program.ts';
import { NotSupported } from './words.ts';

export const listings: Readonly<Record<'ls' | 'find', Program>> = { ls, find };

function* ls(args: readonly string[], { files, now }: Environment): Running {
  const { letters, operands } = optionsOf(args);
  const isLong = letters.includes('l');
  const hidden = letters.includes('a') ? ['.', '..'] : [];
  const isShown = (name: string): boolean => !name.startsWith('.') || /[aA]/.test(letters);
  let code = 0;
  for (const path of operands.length === 0 ? ['.'] : operands) {
    const inside = letters.includes('d') ? undefined : files.list(path);
    const names = inside === undefined ? (files.exists(path) ? [path] : undefined) : [...hidden, ...inside.filter(isShown)];
    if (names === undefined) {
      if (files.assume(path)) continue;
      code = 1;
      yield { err: `ls: ${path}: No such file or directory\n` };
      continue;
    }
    const lines = isLong ? names.map((name) => long(files, inside === undefined ? name : `${path}/${name}`, name, now())) : names;
    if (isLong && inside !== undefined) lines.unshift('total 0');
    if (lines.length > 0) yield { out: `${lines.join('\n')}\n` };
  }
  return code;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `-rw-r--r--    1 root     root            12 Jan  1 00:00 hosts` */
function long(files: Files, path: string, name: string, now: number): string {
  const isDirectory = files.isDirectory(path);
  const at = new Date(now);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2)} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  const size = isDirectory ? 4096 : Buffer.byteLength(files.read(path) ?? '');
  return `${isDirectory ? 'drwxr-xr-x    2' : '-rw-r--r--    1'} root     root     ${String(size).padStart(9)} ${time} ${name}`;
}

interface Conditions {
  readonly starts: readonly string[];
  readonly type: string | undefined;
  readonly names: readonly string[];
  readonly least: number;
  readonly most: number;
}

function conditionsOf(args: readonly string[]): Conditions {
  const from = args.findIndex((arg) => arg.startsWith('-') || arg === '!' || arg === '(');
  const starts = from < 0 ? args : args.slice(0, from);
  let type: string | undefined;
  let [least, most] = [0, Number.POSITIVE_INFINITY];
  const names: string[] = [];
  for (let i = starts.length; i < args.length; i++) {
    const name = args[i] as string;
    if (name === '-print') continue;
    const value = args[++i] ?? '';
    if (name === '-type' && /^[fd]$/.test(value)) type = value;
    else if (name === '-name' && !/[?[\\]/.test(value)) names.push(value);
    else if (name === '-maxdepth' && /^\d+$/.test(value)) most = Number(value);
    else if (name === '-mindepth' && /^\d+$/.test(value)) least = Number(value);
    else throw new NotSupported(`find ${name}`);
  }
  return { starts: starts.length === 0 ? ['.'] : starts, type, names, least, most };
}

/** `find /etc -type f -name '*.conf' -maxdepth 2` */
function* find(args: readonly string[], { files }: Environment): Running {
  const { starts, type, names, least, most } = conditionsOf(args);
  let code = 0;
  for (const start of starts) {
    const root = files.absolute(start);
    const paths: string[] = [];
    if (!files.exists(root)) {
      if (files.assume(root)) continue;
      code = 1;
      yield { err: `find: ${start}: No such file or directory\n` };
      continue;
    }
    for (const path of files.tree(root)) {
      const isDirectory = path.endsWith('/');
      const inside = path
        .slice(root === '/' ? 1 : root.length + 1)
        .split('/')
        .filter((part) => part !== '');
      const name = inside.at(-1) ?? (root.slice(root.lastIndexOf('/') + 1) || '/');
      if (inside.length < least || inside.length > most || (type !== undefined && isDirectory !== (type === 'd'))) continue;
      if (names.every((pattern) => isLike(name, pattern))) paths.push(inside.length === 0 ? start : joined(start, inside));
    }
    if (paths.length > 0) yield { out: `${paths.join('\n')}\n` };
  }
  return code;
}
const joined = (start: string, inside: readonly string[]): string => `${start.endsWith('/') ? start : `${start}/`}${inside.join('/')}`;
