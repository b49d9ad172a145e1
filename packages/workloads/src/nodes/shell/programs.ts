/** The programs that simulated containers have. */
import { own } from '@plat-dev/lib/own';
import { filePrograms } from './file-programs.ts';
import { test } from './file-tests.ts';
import { exits, type Program } from './program.ts';
import { tar } from './tar.ts';
import { textPrograms } from './text-programs.ts';
import { FOREVER_MS } from './work.ts';

/** Most numbers that `seq` prints. */
const SEQUENCE_LIMIT = 10_000;
const NUMBER_WORK = 10;
const unitMillis = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const simplePrograms: Readonly<Record<string, Program>> = {
  true: exits(0),
  false: exits(1),
  sync: exits(0),
  *echo(args) {
    const [first = ''] = args;
    const isOption = /^-[neE]+$/.test(first);
    const text = (isOption ? args.slice(1) : args).join(' ');
    const output = isOption && first.includes('e') ? unescaped(text) : text;
    yield { out: isOption && first.includes('n') ? output : `${output}\n` };
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
  *hostname(_args, { hostname }) {
    yield { out: `${hostname}\n` };
    return 0;
  },
  *whoami() {
    yield { out: 'root\n' };
    return 0;
  },
};

/** By their name. */
export const programs: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...simplePrograms,
    ...textPrograms,
    ...filePrograms,
    tar,
    test,
    '[': (args, environment) => test(args.slice(0, -1), environment),
    '[[': (args, environment) => test(args.slice(0, -1), environment),
  }),
);

const unescaped = (text: string): string =>
  text.replace(/\\([nrt\\])/g, (_, char: string) => own({ n: '\n', r: '\r', t: '\t', '\\': '\\' }, char) ?? char);
