/** `plat convert`: manifests in another version of the API, without a server. */

import { bool, FlagError, type FlagValues, flag, readRelease, text } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { didYouMean } from '@plat-dev/lib/suggest';
import { apiRelease, apiReleases, latestRelease } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { JsonValue } from '@plat-dev/schema/types';
import { parseYamlDocuments, stringifyYaml } from '@plat-dev/schema/yaml';
import { editYaml } from '@plat-dev/schema/yaml/edit';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { ManifestError, type ManifestText, manifestsFrom, manifestsOf, readTexts } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag, templateFlags } from '../objects/object-flags.ts';
import { refOf } from '../objects/targets.ts';
import { formPrinter, type Printed, readResultForm, resultFormNames } from '../output/print-forms.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { printable } from '../output/print-table.ts';
import { errorLine, isStock } from '../program.ts';
import { Progress } from '../terminal/progress.ts';
import { withServer } from '../work.ts';
import { Catalogue } from './catalogue.ts';
import { Converter, type Outcome } from './documents.ts';
import { replaceFiles } from './replace-files.ts';
import { identityOfRun } from './run-identity.ts';

const convertFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Converting: {
    local: bool(true, 'Convert the files; false converts the objects that they name, as the server has them.', { defaultText: 'true' }),
    'output-version': text('', 'Group and version to convert to, of the kinds that it has: apps/v1.', { value: 'GROUP/VERSION' }),
    'to-release': flag<string>(
      '',
      'Convert versions that this release does not have, or deprecates.',
      `${apiReleases[0]}…${latestRelease}|latest`,
      readRelease,
    ),
    identity: text('', 'Names of groups: kubernetes, plat, or a JSON file.', {
      value: 'NAME',
      defaultText: 'that of the first object with a suffix, else of the server, else plat',
    }),
  },
  Output: {
    write: bool(false, 'Write the files in place instead of printing them.'),
    output: flag<string>('', 'Print objects in this form instead of the texts as they were written.', resultFormNames, readResultForm, {
      short: 'o',
    }),
    template: templateFlags.template,
    'allow-missing-template-keys': templateFlags['allow-missing-template-keys'],
  },
  Connecting: connectFlags,
};
type ConvertOptions = FlagValues<typeof convertFlags>;

/** Exit code: a person must decide something. */
export const NEEDS_DECISION = 3;

export const convert = command({
  usage: '-f FILE|DIR|URL|- [--to-release RELEASE|--output-version GROUP/VERSION] [--write]',
  summary: 'Convert manifests to another API version.',
  flags: convertFlags,
  more: `
Without --to-release and --output-version objects get the newest version of release ${apiRelease}. Comments, order and line ends stay;
documents that need no conversion are not touched. Defaults that differ between the versions are written out, so that an object
does what it did before. Custom kinds are left alone. Standard error has what was changed, and what you must decide.

Nothing is written with --write if any text cannot be read or any object cannot be converted.

Examples:
  plat convert -f old.yaml
  plat convert -f manifests/ -R --to-release 1.25 --write
  helm template web ./chart | plat convert -f - --to-release 1.22 > web.yaml

Exit codes:
  0   all objects are converted, or needed no conversion
  1   some input cannot be read or converted
  2   the command line is wrong
  3   all objects are converted, and some need a decision
`,
  async run({ options, args }, io) {
    checkLine(options, args);
    const texts = options.local ? await textsOf(options, io) : await liveTexts(options, io);
    const { parsed, failures } = parseAll(texts, io);
    const values = parsed.flatMap((one) => one.values);
    const identity = await identityOfRun({ ...options, connect: options }, values, io);
    const goal = {
      release: options.toRelease === '' ? apiRelease : options.toRelease,
      newest: options.toRelease === '',
      ...(options.outputVersion !== '' && { outputVersion: options.outputVersion }),
    };
    const catalogue = new Catalogue(identity);
    checkVersion(goal.outputVersion, catalogue);
    const converter = new Converter(catalogue, goal);
    const progress = new Progress(io);
    const results = parsed.map((one, index) => {
      progress.count('converting', index + 1, parsed.length);
      return convertText(one, converter, io);
    });
    progress.clear();
    const code = report(converter.outcomes, failures, io);
    const form = options.output === '' && options.template === '' && isStock(io) ? 'yaml' : options.output;
    const asWritten = form === '' && options.template === '';
    if (!options.write)
      io.out(
        asWritten
          ? joined(results.map(({ text: convertedText }) => convertedText))
          : await printed(results, { ...options, output: form }, io),
      );
    else if (code === 1) io.err('plat: no file was written\n');
    else await replaceFiles(results.filter(({ text: convertedText, original }) => convertedText !== original));
    // The stock plug-in leaves nothing to decide.
    return isStock(io) && code === NEEDS_DECISION ? 0 : code;
  },
});

/** The texts of the files, or those of the objects that a kustomization makes. */
async function textsOf(options: ConvertOptions, io: IO): Promise<ManifestText[]> {
  if (options.kustomize === '') return readTexts(options.filename, options.recursive, io);
  const manifestList = await manifestsFrom(options, io);
  return manifestList.map(({ source, origin, object }) => ({ source, origin, text: stringifyYaml(object) }));
}
/** The objects that the files name, as the server has them. */
async function liveTexts(options: ConvertOptions, io: IO): Promise<ManifestText[]> {
  const texts: ManifestText[] = [];
  const code = await withServer(options, io, async (work) => {
    for (const manifest of await manifestsFrom(options, io)) {
      const resource = await work.resourceOf(manifest);
      const object = await work.get(refOf(manifest, resource, work, options.namespace));
      texts.push({ source: manifest.source, origin: manifest.origin, text: stringifyYaml(object as unknown as JsonValue) });
    }
    return 0;
  });
  if (code !== 0) throw new Error('interrupted');
  return texts;
}

function checkLine(
  { filename, kustomize, local, write, output, template, outputVersion, toRelease }: ConvertOptions,
  args: readonly string[],
): void {
  if (args.length > 0) throw new FlagError(`convert takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
  if (filename.length === 0 && kustomize === '')
    throw new FlagError('which files? For example: plat convert -f manifests/ --to-release 1.25');
  if (outputVersion !== '' && toRelease !== '') throw new FlagError('--output-version and --to-release exclude each other');
  if (write && (output !== '' || template !== '')) throw new FlagError('--write keeps the form of the files: leave out -o');
  if (write && kustomize !== '') throw new FlagError('--write and -k exclude each other: what a kustomization makes has no file');
  if (write && !local) throw new FlagError('--write and --local=false exclude each other');
  const other = filename.find((path) => path === '-' || /^https?:\/\//.test(path));
  if (write && other !== undefined) throw new FlagError(`--write: ${other} is not a file`);
}

/** Throws FlagError that lists the versions of the group, or suggests the nearest of all. */
function checkVersion(outputVersion: string | undefined, catalogue: Catalogue): void {
  if (outputVersion === undefined) return;
  const all = new Set([...catalogue.every()].map(({ apiVersion }) => apiVersion));
  if (all.has(outputVersion)) return;
  const { group } = splitApiVersion(outputVersion);
  const groupVersions = [...all].filter((one) => splitApiVersion(one).group === group);
  const hint = groupVersions.length === 0 || group === '' ? didYouMean(outputVersion, all) : `; there are ${groupVersions.join(', ')}`;
  throw new FlagError(`--output-version ${outputVersion}: no kind has this version${hint}`);
}

interface Parsed {
  readonly source: ManifestText;
  readonly values: readonly JsonValue[];
}
function parseAll(texts: readonly ManifestText[], io: IO): { parsed: Parsed[]; failures: number } {
  const parsed: Parsed[] = [];
  for (const source of texts) {
    try {
      if (source.text.includes('\ufffd')) throw new ManifestError('the text is not UTF-8');
      const values = parseYamlDocuments(source.text);
      // The stock plug-in takes objects of the API alone; others are left as they are.
      if (isStock(io)) manifestsOf(source.text, source.source, source.origin);
      parsed.push({ source, values });
    } catch (error) {
      io.err(isStock(io) ? errorLine(error, io) : `plat: ${source.source}: ${(error as Error).message}\n`);
    }
  }
  return { parsed, failures: texts.length - parsed.length };
}

export interface ConvertedText {
  readonly file: string | undefined;
  readonly original: string;
  readonly text: string;
  readonly values: readonly JsonValue[];
}
function convertText({ source: { source, text: original, file }, values }: Parsed, converter: Converter, io: IO): ConvertedText {
  const converted = converter.documents(values, source);
  const { text: convertedText, rewritten } = editYaml(original, converted);
  for (const i of rewritten)
    io.err(`plat: ${source}, document ${i + 1}: rewritten without its comments: a part that changes uses an anchor\n`);
  return { file, original, text: convertedText, values: converted };
}

// ---- output ------------------------------------------------------------------------------------------------------

function report(outcomes: readonly Outcome[], failures: number, io: IO): number {
  let errors = failures;
  let decisions = 0;
  let converted = 0;
  for (const { source, name, apiVersion, converted: to, notes, leftReason, error, isGone } of outcomes) {
    const what = printable(`${source}: ${name === '' ? '' : `${name}: `}`);
    if (error !== undefined) {
      errors++;
      io.err(`${what}${apiVersion}: ${printable(error)}\n`);
    } else if (leftReason !== undefined) {
      if (isGone) decisions++;
      io.err(`${what}${apiVersion === '' ? '' : `${printable(apiVersion)} `}left alone: ${printable(leftReason)}\n`);
    } else if (to !== undefined) {
      converted++;
      io.err(`${what}${apiVersion} → ${to}\n`);
      if (notes.some(({ decide }) => decide)) decisions++;
      for (const { path, decide, text: note } of notes) io.err(`  ${decide ? 'decide ' : 'changed'}  ${printable(`${path}: ${note}`)}\n`);
    }
  }
  io.err(
    `${converted} of ${countText(outcomes.length, 'object')} converted, ${decisions} with something to decide, ${countText(errors, 'error')}\n`,
  );
  return errors > 0 ? 1 : decisions > 0 ? NEEDS_DECISION : 0;
}

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Texts one after another, with a marker between those that have none. */
function joined(texts: readonly string[]): string {
  return texts
    .filter((one) => one.trim() !== '')
    .map((one, i) => {
      const whole = one.endsWith('\n') ? one : `${one}\n`;
      return i === 0 || /^(?:\ufeff)?---/.test(whole) ? whole : `---\n${whole}`;
    })
    .join('');
}
async function printed(results: readonly ConvertedText[], options: ConvertOptions, io: IO): Promise<string> {
  const values = results.flatMap(({ values: some }) => some).filter((value) => value !== null);
  if (options.output === 'yaml') return values.map(stringifyYaml).join('---\n');
  if (options.output !== 'json') {
    const printer = formPrinter({ ...options, showManagedFields: true }, io);
    const items = values.map((value) => ({ item: value as unknown as ApiItem }));
    return items.length === 1 ? printer.one(items[0] as Printed) : printer.list(items, {});
  }
  return `${jsonText(values.length === 1 ? values[0] : { apiVersion: 'v1', items: values, kind: 'List', metadata: {} }, 4)}\n`;
}
