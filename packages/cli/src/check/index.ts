/** `plat check`: what uses versions that a release does not have, or deprecates. */
import { type Flag, FlagError, type FlagValues, flag, readChoice, readRelease, text } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { apiReleases, latestRelease } from '@plat-dev/lib/version';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYamlDocuments, stringifyYaml } from '@plat-dev/schema/yaml';
import { command, type IO } from '../command.ts';
import { type ConnectOptions, connectFlags } from '../connect.ts';
import { isObject } from '../convert/carry-changes.ts';
import { Catalogue } from '../convert/catalogue.ts';
import { Converter } from '../convert/documents.ts';
import { identityOfRun } from '../convert/run-identity.ts';
import { identityAt } from '../discovery/cluster-info.ts';
import { readTexts } from '../objects/manifests.ts';
import { textFileFlags } from '../objects/object-flags.ts';
import { TablePrinter } from '../output/print-table.ts';
import { withServer } from '../work.ts';
import { type Finding, Findings, fateOf } from './findings.ts';
import { checkServer } from './server-findings.ts';
import { ruleFindings } from './stale-rules.ts';

/** `--server` alone is the one of the context. */
const serverFlag: Flag<string | undefined> = {
  ...flag<string | undefined>(undefined, 'Check the server of the context, or the one at this address.', '[=URL]', (t) =>
    t === 'true' ? '' : t,
  ),
  isSwitch: true,
};
const { server: _, ...otherConnectFlags } = connectFlags;
const checkFlags = {
  Objects: textFileFlags,
  Checking: {
    server: serverFlag,
    'to-release': flag<string>('', 'Release to check for.', `${apiReleases[0]}…${latestRelease}|latest`, readRelease),
    identity: text('', 'Names of groups in files: kubernetes, plat, or a JSON file.', {
      value: 'NAME',
      defaultText: 'that of the first object with a suffix, else of the server, else plat',
    }),
  },
  Output: {
    output: flag<string>('table', 'Output format.', 'table|json|yaml', (t) => readChoice(t, ['table', 'json', 'yaml']), {
      short: 'o',
    }),
  },
  Connecting: otherConnectFlags,
};
type CheckOptions = FlagValues<typeof checkFlags>;

const connecting = ({ server, ...options }: CheckOptions): ConnectOptions => ({ ...options, server: server === '' ? undefined : server });

/** Exit code: something uses a version that the release does not have. */
const MUST_CHANGE = 3;

export const check = command({
  usage: '-f FILE|DIR|URL|- | --server[=URL] --to-release RELEASE [flags]',
  summary: 'Find what uses versions that a release removes or deprecates: plat check -f manifests/ --to-release 1.25',
  flags: checkFlags,
  more: `
Of a server it reads the objects of kinds that change, the versions in which their managers wrote them, the metric of requests in
deprecated versions, and the pods that a PodSecurityPolicy admitted. Of roles and webhooks, in files and on a server, it reads the
rules: those that name only removed versions match nothing. What it could not see is listed on standard error.

Examples:
  plat check -f manifests/ -R --to-release 1.25
  plat check --server --context staging --to-release 1.26
  helm template web ./chart | plat check -f - --to-release 1.22 -o json

Exit codes:
  0   no version must change; deprecated ones may be listed
  1   some input cannot be read, and no version must change
  2   the command line is wrong
  3   something uses a version that the release does not have
`,
  async run({ options, args }, io) {
    const { filename, server, toRelease: release } = options;
    if (args.length > 0) throw new FlagError(`check takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (filename.length === 0 && server === undefined)
      throw new FlagError('check what? For example: plat check -f manifests/ --to-release 1.25, plat check --server --to-release 1.25');
    if (release === '') throw new FlagError('which release? For example: --to-release 1.25');
    const findings = new Findings();
    if (filename.length > 0) await checkFiles(filename, options, findings, io);
    if (server !== undefined) {
      const code = await withServer(connecting(options), io, async (work) => {
        await checkServer(work, new Catalogue(await identityAt(work)), release, findings);
        return 0;
      });
      if (code !== 0) return code;
    }
    print(findings, release, options.output, io);
    return findings.mustChange ? MUST_CHANGE : findings.isPartial ? 1 : 0;
  },
});

async function checkFiles(filename: readonly string[], options: CheckOptions, findings: Findings, io: IO): Promise<void> {
  const { recursive, toRelease: release } = options;
  const parsed: { source: string; values: readonly JsonValue[] }[] = [];
  for (const { source, text: content } of await readTexts(filename, recursive, io)) {
    try {
      parsed.push({ source, values: parseYamlDocuments(content) });
    } catch (error) {
      findings.missed(`${source}: ${(error as Error).message}`);
    }
  }
  const values = parsed.flatMap((one) => one.values);
  const identity = await identityOfRun({ identity: options.identity, connect: connecting(options) }, values, io);
  const catalogue = new Catalogue(identity);
  const converter = new Converter(catalogue, { release, newest: false });
  for (const { source, values } of parsed) {
    converter.documents(values, source);
    for (const object of objectsOf(values))
      for (const finding of ruleFindings(object, catalogue, release)) findings.add({ ...finding, where: `${source}, ${finding.where}` });
  }
  for (const { source, name: displayName, apiVersion, kind, served, notes, leftReason, error } of converter.outcomes) {
    if (served === undefined) {
      findings.notSeen.push(`${source}: ${displayName === '' ? '' : `${displayName}, ${apiVersion}: `}${leftReason ?? ''}`);
      continue;
    }
    const fate = fateOf(served, catalogue, release);
    if (fate === undefined) continue;
    const decisions = notes.filter(({ decide }) => decide).map(({ path, text: note }) => `${path}: ${note}`);
    const more = error === undefined ? decisions : [error];
    findings.add({ ...fate, type: 'manifest', apiVersion, kind, where: `${source}, ${displayName}`, notes: [...fate.notes, ...more] });
  }
}

/** The objects of documents, and those of their lists. */
function objectsOf(values: readonly JsonValue[]): JsonObject[] {
  return values.filter(isObject).flatMap((one) => (Array.isArray(one.items) ? [one, ...one.items.filter(isObject)] : [one]));
}

// ---- output ------------------------------------------------------------------------------------------------------

function print(findings: Findings, release: string, form: string, io: IO): void {
  const { list, notSeen, more, mustChange } = findings;
  if (form === 'table') io.out(list.length === 0 ? `nothing uses what release ${release} removes or deprecates\n` : tableOf(list));
  else {
    const report = { toRelease: release, mustChange, findings: list, notListed: more, notSeen };
    const value = parseExact(JSON.stringify(report)) as JsonValue;
    io.out(form === 'yaml' ? stringifyYaml(value) : `${jsonText(value, 4)}\n`);
  }
  if (more > 0) io.err(`${more} more findings are not listed\n`);
  if (form === 'table') for (const { where, notes } of list) for (const note of notes) io.err(`${where}: ${note}\n`);
  for (const what of notSeen) io.err(`not seen: ${what}\n`);
}

function tableOf(list: readonly Finding[]): string {
  const printer = new TablePrinter({ wide: false, headers: true, namespaces: false, labels: false, prefix: '' });
  const columns = ['Level', 'Version', 'Kind', 'Used by', 'Where', 'Removed in', 'Use'].map((name) => ({ name }));
  const rows = list.map(({ level, apiVersion, kind, type, manager, where, removedIn = '', use = '' }) => ({
    cells: [level, apiVersion, kind, manager === undefined ? type : `${type} ${manager}`, where, removedIn, use],
  }));
  return printer.print(columns, rows);
}
