/** The pages of the reference, from the tables that the program itself uses: nothing on them is written by hand. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledScripts } from '../bundled-scripts.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OLDEST = '1.24';

/** The tables, as a module of this process. */
export async function loadTables() {
  const directory = join(root, 'node_modules', '.cache', `site-${process.pid}`);
  const output = await bundledScripts({
    input: { tables: 'scripts/site/tables.ts' },
    external: /^(?!@plat-dev\/)[^./]/,
    sourcemap: false,
  });
  mkdirSync(join(directory, 'chunks'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "type": "commonjs" }');
  for (const file of output) writeFileSync(join(directory, file.fileName), file.type === 'chunk' ? file.code : file.source);
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return createRequire(import.meta.url)(join(directory, 'tables.cjs')).tables;
}

/** Path below docs/ → text. */
export async function referencePages(tables) {
  const pages = { flags: flagsPage(tables), gates: gatesPage(tables), errors: errorsPage(tables) };
  return new Map([
    ['reference/commands.md', await commandsPage(tables)],
    ['reference/metrics.md', await metricsPage(tables)],
    ...Object.entries(pages).map(([name, text]) => [`reference/${name}.md`, text]),
    ['reference/api.md', apiPage],
  ]);
}

/** Vue reads what stands between double braces, and HTML what stands between angle brackets. */
const plain = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('{', '&#123;').replaceAll('|', '\\|');
const row = (cells) => `| ${cells.join(' | ')} |`;
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
const page = (title, promise, ...parts) => `# ${title}\n\n${promise}\n\n${parts.join('\n\n')}\n`;

function flagRows(group) {
  return Object.entries(group).map(([name, flag]) => [
    `\`--${name}${flag.isSwitch ? '' : ` ${flag.value}`}\``.replaceAll('|', '\\|'),
    plain([flag.help, flag.stage === undefined || flag.stage === 'stable' ? '' : `(${flag.stage})`].join(' ').trim()),
    plain(flag.defaultText ?? ''),
  ]);
}

function flagsPage({ serverFlags }) {
  const groups = Object.entries(serverFlags).map(
    ([title, group]) => `## ${title}\n\n${table(['flag', 'what it does', 'default'], flagRows(group))}`,
  );
  return page(
    'Flags of the server',
    'After reading this page you know every flag of `plat server`, and its default. `plat server --help` shows the same.',
    ...groups,
  );
}

async function commandsPage(tables) {
  const parts = [];
  const add = async (entry, path, depth) => {
    const command = await entry.load();
    const name = [...path, entry.name].join(' ');
    const flags = Object.entries(command.flags).flatMap(([, group]) => Object.entries(group).filter(([, flag]) => !flag.global));
    parts.push(
      `${'#'.repeat(depth)} plat ${name}\n\n${plain(command.summary)}\n\n    plat ${name} ${command.usage}`,
      ...(flags.length > 0 && name !== 'server' ? [table(['flag', 'what it does', 'default'], flagRows(Object.fromEntries(flags)))] : []),
      ...(name === 'server' ? ['Its flags have [a page of their own](flags.md).'] : []),
    );
    for (const below of command.commands ?? []) await add(below, [...path, entry.name], depth + 1);
  };
  for (const entry of tables.commands) await add(entry, [], 2);
  const { connectFlags } = tables;
  return page(
    'Commands',
    'After reading this page you know every command of `plat` and its flags. `plat help COMMAND` shows the same, with examples.',
    `## Flags of all commands that ask a server\n\n${table(['flag', 'what it does', 'default'], flagRows(connectFlags))}`,
    ...parts,
  );
}

function gatesPage({ apiReleases, gatesIn }) {
  const releases = apiReleases.slice(apiReleases.indexOf(OLDEST));
  const names = [...new Set(releases.flatMap((release) => Object.keys(gatesIn(release))))].sort();
  const stageIn = (name, release) => {
    const gate = gatesIn(release)[name];
    return gate === undefined
      ? ''
      : `${gate.stage}${gate.default === (gate.stage !== 'alpha' && gate.stage !== 'deprecated') ? '' : gate.default ? ', on' : ', off'}`;
  };
  return page(
    'Feature gates by release',
    'After reading this page you know which feature gates each release of the API has, in which stage, and whether they are on.',
    'Alpha and deprecated gates are off and beta and GA gates on, unless the cell says otherwise. What gates do: [feature gates](../feature-gates.md).',
    table(
      ['gate', ...releases],
      names.map((name) => [`\`${name}\``, ...releases.map((release) => stageIn(name, release))]),
    ),
  );
}

function errorsPage({ failureReasons, causeReasons }) {
  return page(
    'Errors',
    'After reading this page you know what each reason of a failure means, and what to do about it.',
    'A failed request is answered with a `Status`: its `code` is that of the response, its `reason` one of these words, its `message` for people, and `details.causes` names fields. What messages of the command line mean: [troubleshooting](../troubleshooting.md).',
    table(
      ['code', 'reason', 'what it means'],
      Object.entries(failureReasons).map(([reason, { code, meaning }]) => [String(code), `\`${reason}\``, plain(meaning)]),
    ),
    '## Reasons of causes',
    table(
      ['reason', 'what it means'],
      Object.entries(causeReasons).map(([reason, meaning]) => [`\`${reason}\``, plain(meaning)]),
    ),
  );
}

/** Metrics are defined where they are counted: those of a server with everything on are noted while it starts. */
async function metricsPage({ Metrics, startTestServer }) {
  const found = new Map();
  const { register } = Metrics.prototype;
  Metrics.prototype.register = function (definition, type, ...rest) {
    found.set(definition.name, { type, ...definition });
    return register.call(this, definition, type, ...rest);
  };
  try {
    const server = await startTestServer({ workloads: true });
    await server.request('GET', '/metrics');
    await server.close();
  } finally {
    Metrics.prototype.register = register;
  }
  const rows = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return page(
    'Metrics',
    'After reading this page you know every metric of `/metrics`, its labels, and how stable it is.',
    'A metric with labels appears when it has counted something. Metrics of the store in etcd and of webhooks appear where these are configured.',
    table(
      ['metric', 'type', 'labels', 'stability', 'what it counts'],
      rows.map(({ name, type, labels = [], stability = 'ALPHA', help }) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        stability,
        plain(help),
      ]),
    ),
  );
}

const apiPage = `---
aside: false
---
# The API, release by release

After opening a kind here you know its fields in any release from 1.24 to 1.36, and what a release changed.

<ApiBrowser />
`;
