/** The programs that simulated containers have. */
import { own } from '../../../lib/own.ts';
import { formatTime } from '../../../meta/time.ts';
import { FILE_BYTES, normal, withoutEnd } from './files.ts';
import type { Environment, Running } from './run.ts';
import { tar } from './tar.ts';
import { NotSupported } from './words.ts';

type Program = (args: readonly string[], environment: Environment) => Running;

/** Longest sleep: a program that sleeps longer never ends here. */
export const FOREVER_MS = 100 * 365 * 24 * 3_600_000;

/** Most numbers that `seq` prints. */
const SEQUENCE_LIMIT = 10_000;
const NUMBER_WORK = 10;
/** Most words of a test. */
const TEST_LIMIT = 100;

const exits = (code: number): Program =>
  // biome-ignore lint/correctness/useYield: a program need not wait or write.
  function* () {
    return code;
  };

export const programs: Readonly<Record<string, Program>> = {
  true: exits(0),
  false: exits(1),
  sync: exits(0),
  *echo(args) {
    const [first = ''] = args;
    const isOption = /^-[neE]+$/.test(first);
    const text = (isOption ? args.slice(1) : args).join(' ');
    const shown = isOption && first.includes('e') ? unescaped(text) : text;
    yield { out: isOption && first.includes('n') ? shown : `${shown}\n` };
    return 0;
  },
  *printf(args) {
    const [format = '', ...values] = args;
    let at = 0;
    yield { out: unescaped(format).replace(/%([sd%])/g, (_, kind: string) => (kind === '%' ? '%' : (values[at++] ?? ''))) };
    return 0;
  },
  *sleep(args) {
    let millis = 0;
    for (const arg of args) {
      const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(arg);
      if (arg === 'infinity' || arg === 'inf') millis = FOREVER_MS;
      else if (match === null) {
        yield { err: `sleep: invalid number '${arg}'\n` };
        return 1;
      } else millis += Number(match[1]) * (own(unitMillis, match[2] ?? '') ?? 1000);
    }
    yield { waitMs: Math.min(millis, FOREVER_MS) };
    return 0;
  },
  *seq(args, { work }) {
    const numbers = args.map(Number);
    const [first, step, last] = numbers.length === 3 ? numbers : numbers.length === 2 ? [numbers[0], 1, numbers[1]] : [1, 1, numbers[0]];
    if (first === undefined || step === undefined || last === undefined || numbers.some(Number.isNaN) || step === 0) {
      yield { err: 'seq: invalid argument\n' };
      return 1;
    }
    const text: string[] = [];
    for (let i = first; (step > 0 ? i <= last : i >= last) && text.length < SEQUENCE_LIMIT; i += step) text.push(`${i}\n`);
    work?.spend(text.length * NUMBER_WORK);
    if (text.length > 0) yield { out: text.join('') };
    return 0;
  },
  *cat(args, { files }) {
    let code = 0;
    for (const path of args.length === 0 ? ['-'] : args) {
      if (path === '-') {
        for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) yield { out: line };
        continue;
      }
      const text = files.read(path);
      if (text !== undefined) yield { out: text };
      else {
        code = 1;
        yield {
          err: `cat: ${files.isDirectory(path) ? `read error: Is a directory` : `can't open '${path}': No such file or directory`}\n`,
        };
      }
    }
    return code;
  },
  *env(_args, { variables }) {
    for (const [name, value] of variables) yield { out: `${name}=${value}\n` };
    return 0;
  },
  *printenv(args, { variables }) {
    if (args.length === 0) {
      for (const [name, value] of variables) yield { out: `${name}=${value}\n` };
      return 0;
    }
    let code = 0;
    for (const name of args) {
      const value = variables.get(name);
      if (value === undefined) code = 1;
      else yield { out: `${value}\n` };
    }
    return code;
  },
  *ls(args, { files }) {
    const paths = args.filter((arg) => !arg.startsWith('-'));
    let code = 0;
    const isItself = args.some((arg) => /^-[a-zA-Z]*d/.test(arg));
    for (const path of paths.length === 0 ? ['/'] : paths) {
      const names = (isItself && files.exists(path) ? [path] : files.list(path)) ?? (files.read(path) === undefined ? undefined : [path]);
      if (names === undefined) {
        code = 1;
        yield { err: `ls: ${path}: No such file or directory\n` };
      } else if (names.length > 0) yield { out: `${names.join('\n')}\n` };
    }
    return code;
  },
  *find(args, { files }) {
    const paths = args.filter((arg) => arg.startsWith('/') || arg.startsWith('.'));
    if (args.some((arg) => arg.startsWith('-'))) throw new NotSupported('find with conditions');
    let code = 0;
    for (const path of paths.length === 0 ? ['/'] : paths) {
      const at = path === '/' ? '' : withoutEnd(path, '/');
      const inside = files.under(path).filter((name) => name !== normal(path));
      if (inside.length === 0 && !files.exists(path)) {
        code = 1;
        yield { err: `find: ${path}: No such file or directory\n` };
      } else yield { out: `${[at || '/', ...inside].join('\n')}\n` };
    }
    return code;
  },
  *dd(args, { files }) {
    const given = new Map(args.map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]));
    const source = given.get('if');
    const most = given.has('count') ? Number(given.get('count')) * sizeOf(given.get('bs') ?? '512') : Number.POSITIVE_INFINITY;
    let text = '';
    if (most < 0 || Number.isNaN(most)) {
      yield { err: `dd: invalid number '${given.get('count')}'\n` };
      return 1;
    }
    if (source === undefined || source === '/dev/stdin') {
      for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) if (text.length <= FILE_BYTES) text += line;
    } else if (source === '/dev/zero') text = '\0'.repeat(Math.min(most, FILE_BYTES + 1));
    else if (files.read(source) !== undefined) text = files.read(source) ?? '';
    else {
      yield { err: `dd: can't open '${source}': No such file or directory\n` };
      return 1;
    }
    text = text.slice(0, most);
    const target = given.get('of');
    if (target === undefined) yield { out: text };
    else if (target !== '/dev/null' && !files.write(target, text)) {
      yield { err: `dd: ${target}: No space left on device\n` };
      return 1;
    }
    yield { err: `${text.length} bytes copied\n` };
    return 0;
  },
  *hostname(_args, { hostname }) {
    yield { out: `${hostname}\n` };
    return 0;
  },
  *date(args, { now }) {
    yield { out: `${args[0] === '+%s' ? Math.floor(now() / 1000) : formatTime(now())}\n` };
    return 0;
  },
  *pwd() {
    yield { out: '/\n' };
    return 0;
  },
  *whoami() {
    yield { out: 'root\n' };
    return 0;
  },
  cd: exits(0),
  mkdir: exits(0),
  chmod: exits(0),
  chown: exits(0),
  *touch(args, { files }) {
    for (const path of args) {
      if (path.startsWith('-') || files.read(path) !== undefined || files.write(path, '')) continue;
      yield { err: `touch: ${path}: No space left on device\n` };
      return 1;
    }
    return 0;
  },
  *rm(args, { files }) {
    const force = args.some((arg) => arg.startsWith('-') && arg.includes('f'));
    let code = 0;
    for (const path of args.filter((arg) => !arg.startsWith('-'))) {
      if (files.remove(path) || force) continue;
      code = 1;
      yield { err: `rm: can't remove '${path}': No such file or directory\n` };
    }
    return code;
  },
  mv: (args, environment) => move(args, environment, true),
  cp: (args, environment) => move(args, environment, false),
  *tee(args, { files }) {
    let text = '';
    for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) {
      if (text.length <= FILE_BYTES) text += line;
      yield { out: line };
    }
    for (const path of args) if (!path.startsWith('-')) files.write(path, text);
    return 0;
  },
  *wc(args) {
    let lines = 0;
    for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) lines++;
    if (!args.includes('-l')) throw new NotSupported('wc without -l');
    yield { out: `${lines}\n` };
    return 0;
  },
  *grep(args) {
    const pattern = args.filter((arg) => !arg.startsWith('-'));
    if (pattern.length !== 1) throw new NotSupported('grep of files');
    let found = false;
    for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) {
      if (!line.includes(pattern[0] as string)) continue;
      found = true;
      if (!args.includes('-q')) yield { out: line };
    }
    return found ? 0 : 1;
  },
  tar,
  test: (args, environment) => check(args, environment),
  '[': (args, environment) => check(args.slice(0, -1), environment),
  '[[': (args, environment) => check(args.slice(0, -1), environment),
};

const unitMillis = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const unitBytes = { k: 1024, K: 1024, M: 1 << 20 };

/** `512`, `1k`, `4M` */
const sizeOf = (text: string): number => {
  const match = /^(\d+)([kKM]?)/.exec(text);
  return match === null ? 0 : Number(match[1]) * (own(unitBytes, match[2] ?? '') ?? 1);
};

function* move(args: readonly string[], { files }: Environment, removes: boolean): Running {
  const [from = '', to = ''] = args.filter((arg) => !arg.startsWith('-'));
  const text = files.read(from);
  if (text === undefined) {
    yield { err: `${removes ? 'mv' : 'cp'}: can't ${removes ? 'rename' : 'stat'} '${from}': No such file or directory\n` };
    return 1;
  }
  const target = to.endsWith('/') || files.isDirectory(to) ? `${to}/${from.slice(from.lastIndexOf('/') + 1)}` : to;
  if (removes) files.remove(from);
  files.write(target, text);
  if (args.includes('-v')) yield { out: `'${from}' -> '${normal(target)}'\n` };
  return 0;
}

function* check(args: readonly string[], { files }: Environment): Running {
  if (args.length > TEST_LIMIT) throw new NotSupported('a test of so many words');
  return holds(args) ? 0 : 1;

  function holds(words: readonly string[]): boolean {
    const either = words.findIndex((word) => word === '||' || word === '-o');
    if (either > 0) return holds(words.slice(0, either)) || holds(words.slice(either + 1));
    const both = words.findIndex((word) => word === '&&' || word === '-a');
    if (both > 0) return holds(words.slice(0, both)) && holds(words.slice(both + 1));
    const [a = '', operator = '', b = ''] = words;
    if (a === '!') return !holds(words.slice(1));
    if (words.length === 1) return a !== '';
    if (words.length === 2) return unary(a, operator);
    if (words.length === 3) return binary(a, operator, b);
    return false;
  }
  function unary(operator: string, value: string): boolean {
    switch (operator) {
      case '-z':
        return value === '';
      case '-n':
        return value !== '';
      case '-d':
        return files.isDirectory(value);
      case '-f':
        return files.read(value) !== undefined;
      case '-s':
        return (files.read(value) ?? '') !== '';
      case '-e':
      case '-r':
      case '-w':
      case '-x':
        return files.exists(value);
      default:
        throw new NotSupported(`test ${operator}`);
    }
  }
}

function binary(a: string, operator: string, b: string): boolean {
  switch (operator) {
    case '=':
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '-eq':
      return Number(a) === Number(b);
    case '-ne':
      return Number(a) !== Number(b);
    case '-lt':
      return Number(a) < Number(b);
    case '-le':
      return Number(a) <= Number(b);
    case '-gt':
      return Number(a) > Number(b);
    case '-ge':
      return Number(a) >= Number(b);
    default:
      throw new NotSupported(`test ${operator}`);
  }
}

const unescaped = (text: string): string =>
  text.replace(/\\([nrt\\])/g, (_, char: string) => own({ n: '\n', r: '\r', t: '\t', '\\': '\\' }, char) ?? char);
