/** The programs `cp`, `mv` and `ln`. */
import type { Files } from './files.ts';
import { type Environment, optionsOf, type Program, type Running } from './program.ts';

type Name = 'cp' | 'mv' | 'ln';

export const copies: Readonly<Record<Name, Program>> = {
  cp: (args, environment) => copyAll(args, environment, 'cp'),
  mv: (args, environment) => copyAll(args, environment, 'mv'),
  ln: (args, environment) => copyAll(args, environment, 'ln'),
};

const failures: Readonly<Record<Name, string>> = { cp: 'stat', mv: 'rename', ln: 'link' };

function* copyAll(args: readonly string[], { files }: Environment, program: Name): Running {
  const { letters, operands } = optionsOf(args);
  const to = operands.at(-1) ?? '';
  if (operands.length < 2) {
    yield { err: `${program}: missing file operand\n` };
    return 1;
  }
  const isInto = to.endsWith('/') || operands.length > 2 || files.isDirectory(to);
  let code = 0;
  for (const from of operands.slice(0, -1)) {
    const target = isInto ? `${to}/${baseOf(from)}` : to;
    const problem = copy(files, from, target, program === 'cp' ? /[raR]/.test(letters) : true);
    if (problem !== undefined) {
      yield { err: `${program}: ${problem === 'missing' ? `can't ${failures[program]} '${from}': No such file or directory` : problem}\n` };
      code = 1;
      continue;
    }
    if (program === 'mv') files.remove(from);
    if (letters.includes('v')) yield { out: `'${from}' -> '${files.absolute(target)}'\n` };
  }
  return code;
}

/** `/a/b/` → `b`, `/a/.` → `.` */
const baseOf = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '')
    .at(-1) ?? '';

/** Returns why it fails. */
function copy(files: Files, from: string, to: string, isRecursive: boolean): string | undefined {
  const full = `${to}: No space left on device`;
  const text = files.read(from);
  if (text !== undefined) return files.write(to, text) ? undefined : full;
  if (files.isDirectory(from)) {
    if (!isRecursive) return `omitting directory '${from}'`;
    const source = files.absolute(from);
    const target = files.absolute(to);
    for (const path of files.tree(source)) {
      const inside = `${target}${path.slice(source === '/' ? 0 : source.length)}`;
      if (!(path.endsWith('/') ? files.makeDirectory(inside) : files.write(inside, files.read(path) ?? ''))) return full;
    }
    return undefined;
  }
  if (!files.assume(from)) return 'missing';
  // What may be a directory, or stand for several files, may have anything in it.
  if (isRecursive || from.includes('*')) files.copiedTo(to.slice(0, to.includes('*') ? to.lastIndexOf('/') : undefined));
  else if (!files.write(to, '')) return full;
  return undefined;
}
