/**
 * Programs that count, search and print text. An option or a pattern that they do not have is not simulated: the wrong answer
 * would be worse than none.
 *
 *   grep -c '^a' /etc/hosts          prints how many lines begin with a
 *   grep 'a*b' /etc/hosts            is not simulated
 */
import { own } from '@plat-dev/lib/own';
import { noFile, textIn } from './file-programs.ts';
import { type Environment, optionsOf, type Program, type Running } from './program.ts';
import { linesOf } from './text-lines.ts';
import { NotSupported } from './words.ts';

/** Longest pattern of `grep`; each of its characters may be compared with each of a line. */
const PATTERN_LIMIT = 256;
/** So many comparisons are a unit of work. */
const CHARACTERS_AT_ONCE = 32;

/** Passes the lines of files, or of the input without any, to `handle` with their path; ends with `missing` if one is not there. */
function* eachLine(
  program: string,
  paths: readonly string[],
  { files, work }: Environment,
  missing: number,
  handle: (line: string, path: string) => Iterable<{ readonly out: string }>,
): Running {
  let code = 0;
  for (const path of paths.length === 0 ? ['-'] : paths) {
    if (path === '-') {
      for (let line = yield { input: true }; line !== undefined; line = yield { input: true }) {
        work?.spend(line.length);
        yield* handle(line, path);
      }
      continue;
    }
    const text = textIn(files, path);
    work?.spend(text?.length ?? 0);
    if (text !== undefined) for (const line of linesOf(text)) yield* handle(line, path);
    else {
      code = missing;
      yield noFile(program, path, files);
    }
  }
  return code;
}

/** The letters of options, all of which must be known. */
function knownOptions(program: string, args: readonly string[], optionLetters: string): ReturnType<typeof optionsOf> {
  const options = optionsOf(args);
  const unknown =
    args.find((arg) => arg.startsWith('--') && arg !== '--') ?? [...options.letters].find((letter) => !optionLetters.includes(letter));
  if (unknown !== undefined) throw new NotSupported(`${program} ${unknown.length === 1 ? `-${unknown}` : unknown}`);
  return options;
}

function* wc(args: readonly string[], environment: Environment): Running {
  const { letters, operands } = knownOptions('wc', args, 'lwc');
  const paths = operands.length === 0 ? ['-'] : operands;
  const counts = new Map<string, { l: number; w: number; c: number }>(paths.map((path) => [path, { l: 0, w: 0, c: 0 }]));
  const code = yield* eachLine('wc', paths, environment, 1, (line, path) => {
    const count = counts.get(path);
    if (count === undefined) return [];
    count.l += line.endsWith('\n') ? 1 : 0;
    count.w += line.match(/\S+/g)?.length ?? 0;
    count.c += Buffer.byteLength(line);
    return [];
  });
  const columns = (['l', 'w', 'c'] as const).filter((column) => letters === '' || letters.includes(column));
  for (const [path, count] of counts) {
    if (path !== '-' && textIn(environment.files, path) === undefined) continue;
    const numbers = columns.map((column) => (columns.length === 1 ? `${count[column]}` : `${count[column]}`.padStart(9)));
    yield { out: `${numbers.join(' ')}${path === '-' ? '' : ` ${path}`}\n` };
  }
  return code;
}

/** A text with `.`, a `^` at its start and a `$` at its end; what repeats could take the server's time. */
function matcherOf(pattern: string, letters: string): (line: string) => boolean {
  const isFixed = letters.includes('F');
  const isExtended = letters.includes('E');
  if (!isFixed && (isExtended ? /[*+?(){}[\]\\]/ : /[*[\]\\]/).test(pattern)) throw new NotSupported(`grep of the pattern ${pattern}`);
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const alternatives = isExtended ? pattern.split('|') : [pattern];
  const source = alternatives.map((alternative) => {
    if (isFixed) return literal(alternative);
    const [, start = '', body = '', end = ''] = /^(\^?)(.*?)(\$?)$/s.exec(alternative) ?? [];
    return `${start}${body.split('.').map(literal).join('.')}${end}`;
  });
  const whole = letters.includes('x') ? `^(?:${source.join('|')})$` : source.join('|');
  const expression = new RegExp(whole, letters.includes('i') ? 'i' : '');
  return (line) => expression.test(line.endsWith('\n') ? line.slice(0, -1) : line);
}

function* grep(args: readonly string[], environment: Environment): Running {
  const { letters, operands } = knownOptions('grep', args, 'qvciFEnhx');
  const [pattern, ...paths] = operands;
  if (pattern === undefined) throw new NotSupported('grep without a pattern');
  if (pattern.length > PATTERN_LIMIT) throw new NotSupported('grep of such a long pattern');
  const matches = matcherOf(pattern, letters);
  const passes = Math.ceil(pattern.length / CHARACTERS_AT_ONCE);
  const isShown = !/[qc]/.test(letters);
  const showsNames = paths.length > 1 && !letters.includes('h');
  const counts = new Map((paths.length === 0 ? ['-'] : paths).map((path) => [path, { seen: 0, chosen: 0 }]));
  const code = yield* eachLine('grep', paths, environment, 2, function* (line, path) {
    const count = counts.get(path) ?? { seen: 0, chosen: 0 };
    count.seen++;
    environment.work?.spend(line.length * passes);
    if (matches(line) === letters.includes('v')) return;
    count.chosen++;
    const end = line.endsWith('\n') ? '' : '\n';
    if (isShown) yield { out: `${showsNames ? `${path}:` : ''}${letters.includes('n') ? `${count.seen}:` : ''}${line}${end}` };
  });
  if (letters.includes('c')) for (const [path, { chosen }] of counts) yield { out: `${showsNames ? `${path}:` : ''}${chosen}\n` };
  return code > 0 ? code : [...counts.values()].some(({ chosen }) => chosen > 0) ? 0 : 1;
}

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = 'January February March April May June July August September October November December'.split(' ');

/** All clocks of containers are in UTC. */
function dateText(format: string, now: number): string {
  const iso = new Date(now).toISOString();
  const [day = '', month = ''] = [dayNames[new Date(now).getUTCDay()], monthNames[new Date(now).getUTCMonth()]];
  const parts: Readonly<Record<string, string>> = {
    ...{ '%': '%', n: '\n', t: '\t', s: `${Math.floor(now / 1000)}`, Z: 'UTC', z: '+0000' },
    ...{ Y: iso.slice(0, 4), y: iso.slice(2, 4), m: iso.slice(5, 7), d: iso.slice(8, 10), F: iso.slice(0, 10) },
    ...{ H: iso.slice(11, 13), M: iso.slice(14, 16), S: iso.slice(17, 19), T: iso.slice(11, 19), N: `${iso.slice(20, 23)}000000` },
    ...{ A: day, a: day.slice(0, 3), B: month, b: month.slice(0, 3), e: `${Number(iso.slice(8, 10))}`.padStart(2) },
  };
  return format.replace(/%(.?)/gs, (whole, letter: string) => {
    const part = own(parts, letter);
    if (part === undefined) throw new NotSupported(`date ${whole}`);
    return part;
  });
}

function* date(args: readonly string[], { now }: Environment): Running {
  const { operands } = knownOptions('date', args, 'u');
  const [format = '+%a %b %e %T %Z %Y'] = operands;
  if (operands.length > 1 || !format.startsWith('+')) throw new NotSupported('setting the date');
  yield { out: `${dateText(format.slice(1), now())}\n` };
  return 0;
}

export const textPrograms: Readonly<Record<string, Program>> = { wc, grep, date };
