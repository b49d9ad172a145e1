/** Examples and pages for those who install plat: the commands and flags that they name exist. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Command } from '../../packages/cli/src/command.ts';
import { commands } from '../../packages/cli/src/index.ts';
import { serverFlags } from '../../packages/compose/src/config/flags.ts';
import type { FlagTable } from '../../packages/lib/src/flags.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Command lines of plat in a text, as words: those of scripts and of `["plat", …]`. */
function linesOf(text: string): string[][] {
  const shell = [
    ...text.matchAll(/(?:^|[\s`($/])plat ((?:up|down|list|envtest|server|get|version|help|convert|check|proxy)\b[^\n`)#|]*)/gm),
  ].map((m) => (m[1] as string).split(/ {3,}/)[0]?.trim().split(/\s+/));
  const arrays = [...text.matchAll(/(?:CMD|ENTRYPOINT) (\[.*\])/g)].map((m) => JSON.parse(m[1] as string) as string[]);
  return [
    ...(shell as string[][]),
    ...arrays.map((words) => (words[0] === 'plat' ? words.slice(1) : words)).filter((words) => words.length > 0),
  ];
}
const namesOf = (table: FlagTable): Set<string> =>
  new Set([
    '--help',
    ...Object.values(table).flatMap((group) => Object.entries(group).flatMap(([name, { short }]) => [`--${name}`, `-${short}`])),
  ]);

/** What is wrong with a command line: its command, or flags of it. */
async function faults(words: readonly string[]): Promise<string[]> {
  const entry = commands.find(({ name }) => name === words[0]);
  if (entry === undefined) return [`${words[0]} is not a command`];
  const command: Command = await entry.load();
  const [own, server] = [namesOf(command.flags), namesOf(serverFlags)];
  let known = own;
  const found: string[] = [];
  for (const word of words.slice(1)) {
    if (word === '--') known = server;
    else if (word.startsWith('-') && word !== '-' && !known.has(word.split('=')[0] as string)) found.push(`${words.join(' ')}: ${word}`);
  }
  return found;
}

const pages = [
  ['docs/install.md', 10],
  ['docs/upgrading.md', 5],
  ['docs/feature-gates.md', 3],
  ['docs/field-validation.md', 1],
  ['docs/versioning.md', 2],
  ['docs/coming-from-envtest.md', 2],
  ['docs/coming-from-kind.md', 5],
  ['examples/github-action/action.yml', 3],
  ['examples/docker/Dockerfile', 2],
  ['README.md', 1],
] as const;
test.each(pages)('%s names commands and flags that exist', async (path, least) => {
  const lines = linesOf(read(path));
  expect(lines.length).toBeGreaterThanOrEqual(least);
  expect((await Promise.all(lines.map(faults))).flat()).toEqual([]);
});

test('the search finds commands and flags that do not exist', async () => {
  const lines = linesOf('run `plat up ci --wate`\n$(plat list -o json) # x\nCMD ["plat", "get", "--rew"]\n    plat up a -- --v 2 --w');
  expect(lines).toEqual([
    ['up', 'ci', '--wate'],
    ['list', '-o', 'json'],
    ['up', 'a', '--', '--v', '2', '--w'],
    ['get', '--rew'],
  ]);
  expect((await Promise.all(lines.map(faults))).flat()).toEqual(['up ci --wate: --wate', 'up a -- --v 2 --w: --w', 'get --rew: --rew']);
});

test('the action is a composite one whose inputs are used', () => {
  const text = read('examples/github-action/action.yml');
  const { runs, inputs, outputs } = parse(text);
  expect(runs.using).toBe('composite');
  for (const step of runs.steps) expect(step.uses !== undefined || step.shell === 'bash').toBe(true);
  for (const name of Object.keys(inputs)) expect(text).toContain(`\${{ inputs.${name} }}`);
  // What is written by users goes through the environment, never into the text of a script.
  for (const { run } of runs.steps) expect(run ?? '').not.toContain('${{');
  expect(outputs.kubeconfig.value).toContain('steps.up.outputs.kubeconfig');
  expect(runs.steps.some(({ id }: { id?: string }) => id === 'up')).toBe(true);
});

test('the image has two stages, and its files exist', () => {
  const lines = read('examples/docker/Dockerfile').split('\n');
  expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(2);
  expect(lines).toContain('USER node');
  // What is made in the checkout stays out of the image, and the licence is in it.
  expect(lines).toContain('COPY LICENSE /opt/plat/');
  expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.git', '.plat', '**/node_modules', 'dist']));
  for (const line of lines) {
    const [, files] = /^COPY (?!--from)(.+) \S+$/.exec(line) ?? [];
    for (const file of files?.split(' ') ?? []) expect(existsSync(join(root, file)), file).toBe(true);
  }
});

/** Links of a page that lead to no file of the package. */
function brokenLinks(page: string, text: string, shipped: readonly string[]): string[] {
  // What stands in code is no link.
  return [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] as string).split('#')[0] as string)
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .filter((target) => {
      const path = join(dirname(page), target).replace(/\/$/, '');
      const isShipped = shipped.some((entry) => path === entry || path.startsWith(`${entry}/`));
      return !isShipped || !existsSync(join(root, path));
    })
    .map((target) => `${page}: ${target}`);
}
const { files } = JSON.parse(read('package.json')) as { files: string[] };
const shipped = files.filter((entry) => entry !== 'dist' && !entry.startsWith('!'));
const shippedPages = shipped.flatMap((entry) =>
  statSync(join(root, entry)).isFile()
    ? [entry].filter((path) => path.endsWith('.md'))
    : readdirSync(join(root, entry), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.md') && !path.split('/').includes('node_modules'))
        .map((path) => join(entry, path)),
);

test('every link of a page that the package holds leads to a file that it holds', () => {
  expect(shippedPages).toEqual(expect.arrayContaining(['README.md', 'docs/install.md', 'examples/operator/README.md']));
  expect(shippedPages.flatMap((page) => brokenLinks(page, read(page), shipped))).toEqual([]);
});
test('the search finds links to files that are missing or not in the package', () => {
  const text =
    '[a](install.md#ci) [b](nowhere.md) [c](../packages/compose/src/index.ts) [d](https://example.com/x) [e](#here) [f](decisions/)';
  expect(brokenLinks('docs/x.md', text, shipped)).toEqual(['docs/x.md: nowhere.md', 'docs/x.md: ../packages/compose/src/index.ts']);
});

test('no page or help exports the output of a command at once, which would hide that it failed', async () => {
  const helps = await Promise.all(commands.map(async ({ name, load }) => ({ name: `help of ${name}`, text: (await load()).help(200) })));
  const texts = [...shippedPages, 'examples/github-action/action.yml', 'examples/docker/Dockerfile'].map((name) => ({
    name,
    text: read(name),
  }));
  const hiding = /export \w+=["']?\$\(/;
  expect('export A=$(b)').toMatch(hiding);
  expect([...texts, ...helps].filter(({ text }) => hiding.test(text)).map(({ name }) => name)).toEqual([]);
  expect(helps.find(({ name }) => name === 'help of up')?.text).toContain('&& export KUBECONFIG');
});

test('no page or help makes a reader run the package of others that npm calls plat', async () => {
  const bare = /\bnp(?:x|m exec) (?:--yes |-y )?plat\b/;
  expect('run npx plat server').toMatch(bare);
  const helps = await Promise.all(commands.map(async ({ load }) => (await load()).help(200)));
  const lines = [...shippedPages, 'CONTRIBUTING.md', 'examples/github-action/action.yml'].flatMap((page) => read(page).split('\n'));
  const found = [...lines, ...helps.flatMap((text) => text.split('\n'))].filter((line) => bare.test(line));
  // In a project that has the package installed npm runs that one; elsewhere a warning is all that is said of it.
  expect(found).toEqual([
    expect.stringMatching(/^ {4}npm exec plat -- /),
    expect.stringMatching(/^The unscoped npm package `plat` is not this project/),
  ]);
});
