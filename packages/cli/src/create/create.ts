/** `plat create`: new objects, from files or from flags. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bool, FlagError, type FlagValues, parseFlags, text } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { type Command, type CommandEntry, helpText, type IO } from '../command.ts';
import { commandGroup, commandLines } from '../command-group.ts';
import { connectFlags } from '../connect.ts';
import { editManifests } from '../edit/edit-manifests.ts';
import { changeCause, commandLine, recordFlag, withAnnotations } from '../edit/record.ts';
import { FieldChecker } from '../objects/check-fields.ts';
import type { Manifest } from '../objects/manifest.ts';
import { findManifests, labelsOf, namesManifests } from '../objects/manifests.ts';
import {
  commandManagerFlag,
  dryRunFlag,
  fileFlags,
  namespaceFlag,
  resultFlags,
  validateFlag,
  windowsLineEndingsFlag,
} from '../objects/object-flags.ts';
import { sendRaw } from '../objects/raw-request.ts';
import { namespaceOf } from '../objects/targets.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { typeName, type Work, withServer } from '../work.ts';
import { createObject, saveConfigFlag, showObject } from './create-objects.ts';
import { makerCommand } from './from-flags.ts';
import { makers } from './makers.ts';

const createFlags = {
  Objects: { ...fileFlags, selector: text('', 'Create only objects with these labels: app=web.', { short: 'l', value: 'QUERY' }) },
  Creating: {
    namespace: namespaceFlag,
    edit: bool(false, 'Edit each object before it is created.'),
    'windows-line-endings': windowsLineEndingsFlag('With --edit: end the lines of the file as Windows does.'),
    raw: text('', 'Send the file to this path of the server as it is, and print the answer.', { value: 'PATH' }),
    'field-manager': commandManagerFlag,
    'dry-run': dryRunFlag,
    validate: validateFlag,
    'save-config': saveConfigFlag,
    record: recordFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof createFlags>;

const tokenEntry: CommandEntry = {
  name: 'token',
  summary: 'Create a token of a service account.',
  load: async () => (await import('./token.ts')).createToken,
};
const kinds: readonly CommandEntry[] = [...kindEntries(), tokenEntry];

/** `create configmap`, and groups of makers: `create secret generic`. */
function kindEntries(): CommandEntry[] {
  const entry = (name: string, maker: (typeof makers)[number]): CommandEntry => ({
    name,
    summary: maker.summary,
    load: async () => makerCommand(maker),
  });
  const heads = [...new Set(makers.map(({ path }) => path.split(' ')[0] as string))];
  return heads.map((head) => {
    const below = makers.filter(({ path }) => path.startsWith(`${head} `));
    const { aliases } = makers.find(({ path }) => path.split(' ')[0] === head) as (typeof makers)[number];
    const only = makers.find(({ path }) => path === head);
    if (only !== undefined) return { ...entry(head, only), aliases };
    const summary = `Create a ${head}: ${below.map(({ path }) => path.slice(head.length + 1)).join(', ')}.`;
    const commands = below.map((maker) => entry(maker.path.slice(head.length + 1), maker));
    const examples = below.map((maker) => maker.examples[0] as string);
    return { name: head, aliases, summary, load: async () => commandGroup(`create ${head}`, summary, commands, examples) };
  });
}

export const create: Command = {
  usage: '-f FILE|DIR|URL|- | KIND NAME [flags]',
  summary: 'Create objects from files or flags.',
  flags: createFlags,
  commands: kinds,
  help: (width) =>
    helpText(
      createFlags,
      `Examples:
  plat create -f web.yaml
  plat create deployment web --image=nginx --replicas=3
  plat create configmap web --from-file=conf/ --dry-run=client -o yaml

Kinds that can be created from flags; \`plat help create KIND\` shows the flags of each:
${commandLines(kinds)}

Exit codes:
  0   all objects were created
  1   some objects failed, for example because they exist; the others were created
  2   the command line is wrong
`,
      width,
    ),
  async run(argv, io) {
    const { options, args, raw } = parseFlags(createFlags, argv);
    if (args.length > 0) throw unknownKind(args[0] as string);
    if (!namesManifests(options)) {
      throw new FlagError('which objects? For example: plat create -f web.yaml, plat create namespace team-a');
    }
    if (options.raw !== '') return createRaw(options, io);
    if (options.selector !== '') parseLabelSelector(options.selector);
    const { manifests: all, broken } = await findManifests(options, io, options.validate !== 'Ignore');
    const manifests = selected(all, options.selector);
    return withServer(options, io, (work) => {
      work.leaveOut(broken);
      return createAll(work, manifests, options, commandLine(io, 'create', args, raw));
    });
  },
};

function selected(manifests: Manifest[], selector: string): Manifest[] {
  const query = parseLabelSelector(selector);
  const selectedManifests = manifests.filter(({ object }) => query.matches(labelsOf(object)));
  if (selectedManifests.length === 0) throw new Error('no objects passed to create');
  return selectedManifests;
}

function unknownKind(word: string): FlagError {
  const names = kinds.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const all = kinds.map(({ name }) => name).join(', ');
  return new FlagError(
    `${JSON.stringify(word)} cannot be created from flags${didYouMean(word, names)}: write it to a file for -f, or use one of ${all}`,
  );
}

// ---- files -----------------------------------------------------------------------------------------------------

async function createAll(work: Work, manifests: readonly Manifest[], options: Options, line: string): Promise<number> {
  const results = new Results(work.io, options);
  const fields = new FieldChecker(work, options.validate);
  const annotations = await changeCause(work, options.record, line);
  const sending = { ...options, fieldManager: fieldManager(work.io, 'create', options.fieldManager) };
  for (const givenManifest of manifests) {
    let what = givenManifest.source;
    try {
      const manifest = options.edit ? await editManifests(givenManifest, options, work.io) : givenManifest;
      if (manifest === undefined) continue;
      const resource = await work.resourceOf(manifest);
      if (manifest.name !== undefined) what = `${typeName(resource)}/${manifest.name}`;
      await fields.check(resource, manifest.object, manifest.origin);
      const namespace = namespaceOf(manifest, resource, work, options.namespace);
      const creation = { resource, namespace, object: withAnnotations(manifest.object, annotations), verb: 'created' };
      if (options.dryRun !== 'client') await createObject(work, creation, sending, results);
      else showObject(work.io, { ...creation, object: inNamespace(creation.object, namespace) }, sending, results, true);
    } catch (error) {
      results.failed(what, error, `error when creating ${JSON.stringify(givenManifest.origin)}`);
    }
  }
  return results.end();
}

const inNamespace = (object: Manifest['object'], namespace: string | undefined): Manifest['object'] =>
  namespace === undefined ? object : { ...object, metadata: { ...(object.metadata as object), namespace } };

async function createRaw(options: Options, io: IO): Promise<number> {
  const { raw, filename, edit, recursive, selector, output } = options;
  const other = edit ? '--edit' : recursive ? '--recursive' : selector !== '' ? '--selector (-l)' : output !== '' ? '--output' : undefined;
  if (other !== undefined) throw new FlagError(`--raw and ${other} are mutually exclusive`);
  if (!raw.startsWith('/')) throw new FlagError('--raw needs a path that begins with a slash');
  const [file = '', more] = filename;
  if (file === '' || more !== undefined || /^https?:/.test(file))
    throw new FlagError('--raw needs a single file, or - for the standard input');
  const body = file === '-' ? await io.stdin() : await readFile(resolve(io.cwd, file), 'utf8');
  return withServer(options, io, async (work) => {
    io.out(await sendRaw(work, 'POST', raw, body));
    return 0;
  });
}
