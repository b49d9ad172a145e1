/** The help of every command: one line, usage, three examples that its flags can read, its own flags and no global ones. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Command, CommandEntry } from '../../packages/cli/src/command.ts';
import { connectFlags } from '../../packages/cli/src/global-flags.ts';
import { commands, run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { rawFlags } from '../../packages/lib/src/flags.ts';

interface Page {
  readonly command: Command;
  readonly text: string;
}
/** Every command by its path: `config view`. */
const pages = new Map<string, Page>();
/** Paths with other names of commands in them: `create cm`. */
const otherPaths = new Map<string, string>();

beforeAll(async () => {
  const visit = async (entries: readonly CommandEntry[], above: readonly string[]): Promise<void> => {
    for (const entry of entries) {
      const path = [...above, entry.name];
      const command = await entry.load();
      const io = testIO({});
      expect(await run(['help', ...path], io)).toBe(0);
      pages.set(path.join(' '), { command, text: io.stdout });
      for (const alias of entry.aliases ?? []) otherPaths.set([...above, alias].join(' '), path.join(' '));
      if (command.commands !== undefined) await visit(command.commands, path);
    }
  };
  await visit(commands, []);
});

/** The paths whose page fails, each with what is wrong. */
function faults(check: (page: Page, path: string) => string | undefined): string[] {
  return [...pages].flatMap(([path, page]) => {
    const fault = check(page, path);
    return fault === undefined ? [] : [`${path}: ${fault}`];
  });
}

/** Flags with the name of a global one and a meaning of their own. */
const ownMeaning: readonly string[] = [
  'controllers --v',
  'check --server',
  'create clusterrolebinding --user',
  'create rolebinding --user',
  'set subject --user',
];
const connects = ({ flags }: Command): boolean => Object.values(flags).some((group) => Object.values(group).some((flag) => flag.global));

/** `plat options` is a page of flags itself. */
const withoutExamples = new Set(['options']);

const examplesOf = (text: string): string[] => {
  const [, lines = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(text) ?? [];
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => line.trim());
};

/** The words of the example that are for plat: after its name, up to a pipe, the end of a substitution or a remark. */
function wordsOf(example: string): string[] | undefined {
  const [, line] = /(?:^|[\s(])plat ((?:'[^']*'|"[^"]*"|[^|&'"])*)/.exec(example) ?? [];
  if (line === undefined) return undefined;
  const own = line
    .replace(/ {2,}.*$/, '')
    .replace(/ >.*$/, '')
    .replace(/\)(?:["\s].*)?$/, '');
  return [...own.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

/** The command that the words name, and its own arguments. */
function commandOf(words: readonly string[]): { path: string; own: readonly string[] } | undefined {
  for (let count = Math.min(words.length, 3); count > 0; count--) {
    const [first = '', ...rest] = words.slice(0, count);
    const [second = '', ...last] = rest;
    const head = rest.length === 0 ? first : (otherPaths.get(`${first} ${second}`) ?? `${first} ${second}`);
    const path = [head, ...last].join(' ');
    if (pages.has(path)) return { path, own: words.slice(count) };
  }
  return undefined;
}

function flagFault(example: string): string | undefined {
  const found = commandOf(wordsOf(example) ?? []);
  if (found === undefined) return undefined;
  try {
    rawFlags((pages.get(found.path) as Page).command.flags, found.own);
    return undefined;
  } catch (error) {
    return `${example}: ${(error as Error).message}`;
  }
}

describe('the help of every command', () => {
  test('begins with usage and one line of summary', () => {
    expect(
      faults(({ command, text }, path) => {
        const usage = command.usage === '' ? '' : ` ${command.usage}`;
        if (!text.startsWith(`plat ${path}${usage}\n\n${command.summary}\n\n`)) return 'usage and summary are not first';
        return command.summary.includes('\n') ? 'the summary has more than one line' : undefined;
      }),
    ).toEqual([]);
  });

  test('has three examples of the command', () => {
    expect(
      faults(({ text }, path) => {
        if (withoutExamples.has(path)) return undefined;
        const own = examplesOf(text).filter((line) => wordsOf(line) !== undefined);
        const name = path.split(' ').at(-1) as string;
        const named = own.filter((line) =>
          commandOf(wordsOf(line) ?? [])
            ?.path.split(' ')
            .includes(name),
        );
        return own.length >= 3 && named.length >= 2 ? undefined : `${own.length} examples, ${named.length} of it`;
      }),
    ).toEqual([]);
  });

  test('has examples with flags that exist', () => {
    expect(
      faults(({ text }) =>
        examplesOf(text)
          .map(flagFault)
          .find((fault) => fault !== undefined),
      ),
    ).toEqual([]);
  });

  test('leaves global flags to plat options', () => {
    const shown = [...pages].flatMap(([path, { command, text }]) => {
      if (!connects(command)) return [];
      const names = Object.keys(connectFlags).filter((name) => new RegExp(`^ {2}(?:-\\w, )?--${name}(?: |$)`, 'm').test(text));
      return names.map((name) => `${path} --${name}`);
    });
    expect(shown.filter((flag) => !ownMeaning.includes(flag))).toEqual([]);
    // None is listed in vain.
    expect(ownMeaning.filter((flag) => !shown.includes(flag))).toEqual([]);
    expect(Object.keys(connectFlags).filter((name) => !pages.get('options')?.text.includes(`--${name}`))).toEqual([]);
  });

  test('has single blank lines between its parts, and one newline at the end', () => {
    expect(
      faults(({ text }) => {
        if (/\n\n\n/.test(text)) return 'two blank lines';
        if (/[^\n]\n(?:Examples?|Exit codes|Commands):/.test(text)) return 'no blank line before a part';
        return /[^\n]\n$/.test(text) ? undefined : 'the end';
      }),
    ).toEqual([]);
  });
});
