/** The program `test`: of files, texts and numbers. */
import type { Environment, Running } from './program.ts';
import { NotSupported } from './words.ts';

/** Most words of a test. */
const TEST_LIMIT = 100;

export function* test(args: readonly string[], { files }: Environment): Running {
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
      case '-e':
      case '-f':
      case '-h':
      case '-L':
      case '-r':
      case '-s':
      case '-w':
      case '-x':
        files.guess(value);
        return isThere(operator, value);
      default:
        throw new NotSupported(`test ${operator}`);
    }
  }
  function isThere(operator: string, path: string): boolean {
    if (operator === '-d') return files.isDirectory(path);
    if (operator === '-f') return files.read(path) !== undefined;
    if (operator === '-s') return (files.read(path) ?? '') !== '';
    return files.exists(path);
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
