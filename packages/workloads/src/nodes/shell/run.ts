/**
 * Runs the commands of simulated containers: a small shell and a few programs, on files in memory. It is a generator, so that
 * its user decides how time passes: the agent of a node waits, the controller only adds up.
 *
 *   sh -c 'echo a; sleep 5; exit 3'   →   { out: 'a\n' }   { waitMs: 5000 }   return 3
 */
import { arithmetic } from './arithmetic.ts';
import { textIn } from './file-programs.ts';
import { type Files, withoutEnd } from './files.ts';
import { matching } from './glob.ts';
import type { Environment, ProcessStep, Running } from './program.ts';
import { programs } from './programs.ts';
import { type Command, type List, parseScript, type Redirection } from './syntax.ts';
import { linesOf } from './text-lines.ts';
import { NotSupported, type Part, type Word } from './words.ts';
import { COMMAND_WORK, ShellWork } from './work.ts';

export type { Environment, Running };

/** There is no such program here. */
export class UnknownProgram extends Error {
  readonly program: string;
  constructor(program: string) {
    super(`${program}: not found`);
    this.program = program;
  }
}
/** Longest output of a command substitution. */
const SUBSTITUTION_LIMIT = 64 * 1024;
/** Longest word, and longest command line, after variables are replaced. */
const WORD_LIMIT = 64 * 1024;
const LINE_LIMIT = 1 << 20;
const SHELLS_LIMIT = 20;
/** Units of work (`work.ts`) for a character of a script, a line of input, and a piece of a word that is split. */
const PARSE_WORK = 8;
const LINE_WORK = 8;
const PIECE_WORK = 4;

const shells = new Set(['sh', 'bash', 'ash', 'dash']);
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether there is such a program here. */
export const isProgram = (program: string): boolean =>
  shells.has(baseName(program)) || baseName(program) === 'env' || programs.has(baseName(program));

/** Runs a program. Throws UnknownProgram and NotSupported for what is not simulated. */
export function* run(argv: readonly string[], environment: Environment): Running {
  const [program = '', ...args] = argv;
  if (shells.has(baseName(program))) return yield* shell(args, environment);
  environment.work ??= new ShellWork();
  return yield* program_(program, args, environment);
}

function* program_(program: string, args: readonly string[], environment: Environment): Running {
  if (baseName(program) === 'env') return yield* env(args, environment);
  const runProgram = programs.get(baseName(program));
  if (runProgram === undefined) throw new UnknownProgram(program);
  return yield* runProgram(args, environment);
}

/** Prints the variables, or runs a program with more of them: `env A=1 sh -c 'echo $A'` */
function* env(args: readonly string[], environment: Environment): Running {
  const at = args.findIndex((arg) => !/^[A-Za-z_]\w*=/.test(arg));
  const assignments = args.slice(0, at < 0 ? undefined : at).map(splitOnce);
  const variables = new Map([...environment.variables, ...assignments]);
  if (at >= 0) {
    if (args[at]?.startsWith('-')) throw new NotSupported('env with options');
    return yield* run(args.slice(at), { ...environment, variables });
  }
  for (const [name, value] of variables) yield { out: `${name}=${value}\n` };
  return 0;
}

function* shell(args: readonly string[], environment: Environment): Running {
  const options = args.filter((arg) => /^[-+][a-z]+$/.test(arg));
  const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  if (at >= 0) {
    const script = args[at + 1] ?? '';
    const stops = options.some((option) => option.startsWith('-') && option.includes('e'));
    const { directory } = environment.files;
    const code = yield* new Shell(environment, args.slice(at + 2), stops).script(script);
    environment.files.directory = directory;
    return code;
  }
  if (args.some((arg) => !arg.startsWith('-'))) throw new NotSupported('scripts in files');
  const interactive = new Shell(environment, [], false);
  let code = 0;
  for (;;) {
    const line = yield { input: true };
    if (line === undefined) return code;
    try {
      code = yield* interactive.script(line);
    } catch (error) {
      if (!(error instanceof NotSupported)) throw error;
      yield { err: `sh: ${error.message}\n` };
      code = 2;
    }
    if (interactive.hasExited) return code;
  }
}

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super('exit');
    this.code = code;
  }
}
class LoopControl extends Error {
  readonly again: boolean;
  constructor(again: boolean) {
    super('loop');
    this.again = again;
  }
}

class Shell {
  hasExited = false;
  private readonly environment: Environment;
  private readonly args: readonly string[];
  private stops: boolean;
  private last = 0;
  private readonly work: ShellWork;

  constructor(environment: Environment, args: readonly string[], stops: boolean) {
    this.environment = environment;
    this.args = args;
    this.stops = stops;
    environment.work ??= new ShellWork();
    this.work = environment.work;
  }
  *script(text: string): Running {
    if (++this.work.depth > SHELLS_LIMIT) throw new NotSupported('too many shells within shells');
    try {
      this.work.spend(text.length * PARSE_WORK);
      return yield* this.list(parseScript(text), false);
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      this.hasExited = true;
      return error.code;
    } finally {
      this.work.depth--;
    }
  }

  /** `tested`: its exit code is a condition, which never ends the script. */
  private *list(items: List, tested: boolean): Running {
    for (const [i, { command, when }] of items.entries()) {
      if (when === '&&' && this.last !== 0) continue;
      if (when === '||' && this.last === 0) continue;
      this.last = yield* this.command(command);
      const next = items[i + 1]?.when ?? ';';
      if (this.stops && !tested && this.last !== 0 && next === ';' && command.kind !== 'not') throw new Exit(this.last);
    }
    return this.last;
  }

  private *command(command: Command): Running {
    switch (command.kind) {
      case 'simple':
        return yield* this.simple(command.words, command.redirections);
      case 'group':
        return yield* this.list(command.body, false);
      case 'not':
        return (yield* this.command(command.command)) === 0 ? 1 : 0;
      case 'if': {
        for (const { test, body } of command.arms) {
          if ((yield* this.list(test, true)) === 0) {
            this.last = 0;
            return yield* this.list(body, false);
          }
        }
        this.last = 0;
        return command.otherwise === undefined ? 0 : yield* this.list(command.otherwise, false);
      }
      case 'while':
        return yield* this.loop(command);
      case 'for': {
        let code = 0;
        const values = yield* this.expandAll(command.words);
        for (const value of values) {
          this.environment.variables.set(command.variable, value);
          const exit = yield* this.body(command.body);
          if (exit === 'break') break;
          code = this.last;
        }
        return code;
      }
      case 'pipe':
        return yield* this.pipe(command.commands);
    }
  }
  private *loop({ until, test, body }: Extract<Command, { kind: 'while' }>): Running {
    let code = 0;
    for (;;) {
      yield* this.count();
      if (((yield* this.list(test, true)) === 0) === until) return code;
      const exit = yield* this.body(body);
      if (exit === 'break') return 0;
      code = this.last;
    }
  }
  private *body(body: List): Generator<ProcessStep, 'break' | undefined, string | undefined> {
    try {
      yield* this.list(body, false);
    } catch (error) {
      if (!(error instanceof LoopControl)) throw error;
      if (!error.again) return 'break';
    }
    return undefined;
  }
  /** Each command gets the output of the one before it as its input. */
  private *pipe(commands: readonly Command[]): Running {
    let input: string | undefined;
    let code = 0;
    for (const [i, command] of commands.entries()) {
      const isLast = i === commands.length - 1;
      const lines = input === undefined ? undefined : this.lines(input);
      const running = this.command(command);
      let output = '';
      let answer: string | undefined;
      for (;;) {
        const { done, value } = running.next(answer);
        answer = undefined;
        if (done === true) {
          code = value;
          break;
        }
        if ('input' in value) answer = lines === undefined ? yield value : lines.next().value;
        else if ('out' in value && !isLast) output = this.added(output, value.out);
        else yield value;
      }
      input = output;
    }
    return code;
  }

  private *simple(words: readonly Word[], redirections: readonly Redirection[]): Running {
    yield* this.count();
    const argv = yield* this.expandAll(words);
    let at = 0;
    for (; at < argv.length && isAssignment(words[at], argv[at] as string); at++) {
      const [name, value] = splitOnce(argv[at] as string);
      this.environment.variables.set(name, value);
    }
    const [name = '', ...args] = argv.slice(at);
    if (name === '' && redirections.length === 0) return 0;
    return yield* this.redirected(redirections, this.invoke(name, args));
  }
  private *invoke(name: string, args: readonly string[]): Running {
    switch (name) {
      case '':
        return 0;
      case 'exit':
        throw new Exit(args[0] === undefined ? this.last : (Number(args[0]) || 0) & 255);
      case 'break':
      case 'continue':
        throw new LoopControl(name === 'continue');
      case 'set':
        if (args.some((arg) => arg.startsWith('-') && arg.includes('e'))) this.stops = true;
        if (args.includes('+e')) this.stops = false;
        return 0;
      case 'export':
        for (const arg of args) if (arg.includes('=')) this.environment.variables.set(...splitOnce(arg));
        return 0;
      case 'unset':
        for (const arg of args) this.environment.variables.delete(arg);
        return 0;
      case 'trap':
        if ((args[0] ?? '') !== '' && args.some((arg) => /^(SIG)?TERM$|^15$/.test(arg))) this.environment.trapsTerm = true;
        return 0;
      case 'wait':
      case ':':
        return 0;
      case 'read':
        return yield* this.read(args.filter((arg) => !arg.startsWith('-')));
      case 'exec':
        if (args.length === 0) return 0;
        throw new Exit(yield* this.program(args[0] as string, args.slice(1)));
      default:
        return yield* this.program(name, args);
    }
  }
  /** Puts the words of a line of the input into variables; the last one gets the rest of the line. */
  private *read(names: readonly string[]): Running {
    const line = yield { input: true };
    const words = (line ?? '').trim().split(/\s+/);
    const all = names.length === 0 ? ['REPLY'] : names;
    for (const [i, name] of all.entries())
      this.environment.variables.set(name, i === all.length - 1 ? words.slice(i).join(' ') : (words[i] ?? ''));
    return line === undefined ? 1 : 0;
  }
  private *program(name: string, args: readonly string[]): Running {
    if (baseName(name) === 'sleep') this.work.waited();
    if (shells.has(baseName(name))) return yield* shell(args, this.environment);
    return yield* program_(name, args, this.environment);
  }

  private *redirected(redirections: readonly Redirection[], running: Running): Running {
    if (redirections.length === 0) return yield* running;
    const { files } = this.environment;
    let out: ((text: string) => ProcessStep | undefined) | undefined;
    let err: ((text: string) => ProcessStep | undefined) | undefined;
    let lines: Lines | undefined;
    for (const { operator, target } of redirections) {
      const path = target === undefined ? '' : (yield* this.expand(target)).join(' ');
      if (operator === '2>&1') err = (text) => (out === undefined ? { out: text } : out(text));
      else if (operator === '>&2' || operator === '1>&2') out = (text) => ({ err: text });
      else if (operator === '<') {
        const text = textIn(files, path);
        if (text === undefined) {
          yield { err: `sh: ${path}: No such file or directory\n` };
          return 1;
        }
        lines = this.lines(text);
      } else {
        const append = fileWriter(files, path, operator === '>>');
        if (operator === '2>') err = append;
        else out = append;
      }
    }
    let answer: string | undefined;
    for (;;) {
      const { done, value } = running.next(answer);
      answer = undefined;
      if (done === true) return value;
      if ('input' in value) answer = lines === undefined ? yield value : lines.next().value;
      else {
        if ('out' in value) this.work.spend(value.out.length);
        else if ('err' in value) this.work.spend(value.err.length);
        const step: ProcessStep | undefined =
          'out' in value && out !== undefined ? out(value.out) : 'err' in value && err !== undefined ? err(value.err) : value;
        if (step !== undefined) yield step;
      }
    }
  }

  private *expandAll(words: readonly Word[]): Generator<ProcessStep, string[], string | undefined> {
    const all: string[] = [];
    let length = 0;
    for (const word of words) {
      for (const value of yield* this.expand(word)) {
        length += value.length + 1;
        all.push(value);
      }
      if (length > LINE_LIMIT) throw new NotSupported('a command is too long');
    }
    return all;
  }
  /** The values of a word: an unquoted variable is split at white space. */
  private *expand({ parts }: Word): Generator<ProcessStep, string[], string | undefined> {
    const values: string[] = [];
    let current: string | undefined;
    let isPattern = false;
    for (const part of parts) {
      const text = yield* this.value(part);
      isPattern ||= part.kind === 'text' && !part.quoted && part.text.includes('*');
      this.work.spend(text.length);
      const splits = (part.kind === 'variable' || part.kind === 'command') && !part.quoted;
      if (!splits) {
        current = (current ?? '') + text;
        if (current.length > WORD_LIMIT) throw new NotSupported('a word is too long');
        continue;
      }
      const pieces = text.split(/\s+/);
      this.work.spend(pieces.length * PIECE_WORK);
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) {
          if (current !== undefined) values.push(current);
          current = undefined;
        }
        if (piece !== '') current = (current ?? '') + piece;
      }
      if ((current ?? '').length > WORD_LIMIT || values.length > WORD_LIMIT) throw new NotSupported('a word is too long');
    }
    if (current !== undefined) values.push(current);
    if (!isPattern) return values;
    return values.flatMap((value) => matching(value, this.environment.files, (units) => this.work.spend(units)));
  }
  private *value(part: Part): Generator<ProcessStep, string, string | undefined> {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'arithmetic':
        return String(arithmetic(part.text, (name) => this.variable(name) ?? ''));
      case 'variable': {
        const value = this.variable(part.name);
        return (value === undefined || value === '') && part.fallback !== undefined ? part.fallback : (value ?? '');
      }
      case 'command': {
        const running = new Shell(this.environment, this.args, false).script(part.script);
        let output = '';
        let answer: string | undefined;
        for (;;) {
          const { done, value } = running.next(answer);
          if (done === true) {
            this.last = value;
            return withoutEnd(output, '\n');
          }
          if ('out' in value) output = this.added(output, value.out);
          else answer = yield value;
        }
      }
    }
  }
  private variable(name: string): string | undefined {
    if (name === '?') return String(this.last);
    if (name === '#') return String(Math.max(this.args.length - 1, 0));
    if (name === '@' || name === '*') return this.args.slice(1).join(' ');
    if (name === '$' || name === '!') return '1';
    if (/^\d$/.test(name)) return this.args[Number(name)];
    if (name === 'RANDOM') return String(this.environment.random());
    if (name === 'HOSTNAME') return this.environment.variables.get(name) ?? this.environment.hostname;
    return this.environment.variables.get(name);
  }
  /** Counts a command, before which others may go first. */
  private *count(): Generator<ProcessStep, void, string | undefined> {
    this.work.spend(COMMAND_WORK + this.environment.files.takeWork());
    if (this.work.givesWay()) yield { busy: true };
  }
  /** The lines of a text that a command has as its input. */
  private lines(text: string): Lines {
    const lines = linesOf(text);
    this.work.spend(text.length + lines.length * LINE_WORK);
    return lines.values();
  }
  /** Output that is kept for another command. */
  private added(output: string, more: string): string {
    if (output.length >= SUBSTITUTION_LIMIT) return output;
    const all = `${output}${more}`;
    const keptText = all.slice(0, SUBSTITUTION_LIMIT);
    this.work.spend(keptText.length - output.length);
    return keptText;
  }
}

const splitOnce = (text: string): [string, string] => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
/** An assignment begins with plain text: `A=1`, not `"A=1"`. */
function isAssignment(word: Word | undefined, text: string): boolean {
  const first = word?.parts[0];
  return first?.kind === 'text' && !first.quoted && /^[A-Za-z_]\w*=/.test(first.text) && text.includes('=');
}
type Lines = Iterator<string, undefined>;

function fileWriter(files: Files, path: string, append: boolean): (text: string) => ProcessStep | undefined {
  if (path === '/dev/null') return () => undefined;
  if (path === '/dev/stdout' || path === '/proc/1/fd/1') return (out) => ({ out });
  if (path === '/dev/stderr') return (err) => ({ err });
  let content = append ? (files.read(path) ?? '') : '';
  files.write(path, content);
  return (text) => {
    const next = content + text;
    const isWritten = files.write(path, next);
    if (isWritten) content = next;
    return isWritten ? undefined : { err: `sh: ${path}: No space left on device\n` };
  };
}
