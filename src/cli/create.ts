/** `plat create`: new objects, from files or from flags. */

import type { ApiResource } from '../client/discovery.ts';
import { FlagError, type FlagValues, flagHelp, parseFlags } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';
import { apiVersionOf } from '../meta/api-version.ts';
import { ApiError } from '../meta/errors.ts';
import { FieldChecker } from './check-fields.ts';
import type { Command, IO } from './command.ts';
import { connectFlags } from './connect.ts';
import { type Maker, makers } from './create-makers.ts';
import { type Manifest, readManifests } from './manifests.ts';
import { dryRunFlag, fileFlags, managerFlag, namespaceFlag, resultFlags, validateFlag } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { namespaceOf } from './targets.ts';
import { typeName, type Work, withServer } from './work.ts';

const commonFlags = {
  Creating: { namespace: namespaceFlag, 'field-manager': managerFlag, 'dry-run': dryRunFlag, validate: validateFlag },
  Printing: resultFlags,
  Connecting: connectFlags,
};
const createFlags = { Objects: fileFlags, ...commonFlags };
type CreateOptions = FlagValues<typeof commonFlags>;

export const create: Command = {
  usage: '-f FILE|DIR|URL|- | KIND NAME [flags]',
  summary: 'Create objects: plat create -f web.yaml, plat create namespace team-a',
  flags: { ...createFlags, ...Object.fromEntries(makers.map((m) => [m.kindPath.join(' '), m.flags])) },
  help,
  commands: [
    { name: 'token', summary: 'Create a token of a service account.', load: async () => (await import('./create-token.ts')).createToken },
  ],
  async run(argv, io) {
    const found = makerOf(argv);
    if (found !== undefined) return makeOne(found.maker, found.rest, io);
    const { options, args } = parseFlags(createFlags, argv);
    if (args.length > 0) throw unknownKind(args);
    if (options.filename.length === 0)
      throw new FlagError('which objects? For example: plat create -f web.yaml, plat create namespace team-a');
    const manifests = await readManifests(options.filename, options.recursive, io);
    return withServer(options, io, (work) => createAll(work, manifests, options));
  },
};

function help(width: number): string {
  const kinds = makers.map((m) => {
    const flags = Object.keys(m.flags).length === 0 ? '' : `\n${flagHelp({ Flags: m.flags }, width).trimEnd()}`;
    return `${m.kindPath.join(' ')}${m.short === undefined ? '' : ` (${m.short})`}: ${m.example}${flags}\n`;
  });
  return `${flagHelp(createFlags, width)}
Kinds that can be created from flags, with --dry-run=client -o yaml to see them:

${kinds.join('\n')}
token SERVICE-ACCOUNT: plat create token builder -n team; \`plat help create token\` shows its flags

Exit codes:
  0   all objects were created
  1   some objects failed, for example because they exist; the others were created
  2   the command line is wrong
`;
}

/** The kind that the first arguments name, and what is left of the command line. */
function makerOf(args: readonly string[]): { maker: Maker; rest: readonly string[] } | undefined {
  for (const maker of makers) {
    const [first, ...more] = maker.kindPath;
    if ((args[0] === first || (maker.short !== undefined && args[0] === maker.short)) && more.every((word, i) => args[i + 1] === word)) {
      return { maker, rest: args.slice(maker.kindPath.length) };
    }
  }
  return undefined;
}
function unknownKind([word = '', next]: readonly string[]): FlagError {
  const partial = makers.filter((m) => m.kindPath[0] === word).map((m) => m.kindPath.join(' '));
  if (partial.length > 0) {
    return new FlagError(`create ${word} ${next ?? '…'}: there is only ${partial.join(', ')}; the kind comes first on the command line`);
  }
  const names = makers.flatMap((m) => [m.kindPath.join(' '), ...(m.short === undefined ? [] : [m.short])]);
  return new FlagError(
    `${JSON.stringify(word)} cannot be created from flags${didYouMean(word, names)}: write it to a file for -f, or name the kind first: ${makers.map((m) => m.kindPath.join(' ')).join(', ')}`,
  );
}

async function createAll(work: Work, manifests: readonly Manifest[], options: CreateOptions): Promise<number> {
  const results = new Results(work.io, options);
  const fields = new FieldChecker(work, options.validate);
  for (const manifest of manifests) {
    let what = manifest.source;
    try {
      const resource = await work.discovery.forKind(manifest.object.apiVersion, manifest.object.kind);
      if (manifest.name !== undefined) what = `${typeName(resource)}/${manifest.name}`;
      await fields.check(resource, manifest.object);
      await createOne(work, resource, namespaceOf(manifest, resource, work, options.namespace), manifest.object, options, results);
    } catch (error) {
      results.failed(what, error);
    }
  }
  return results.end();
}

async function createOne(
  work: Work,
  resource: ApiResource,
  namespace: string | undefined,
  object: Manifest['object'],
  options: CreateOptions,
  results: Results,
): Promise<void> {
  const { name = '', generateName = '' } = (object.metadata ?? {}) as { name?: string; generateName?: string };
  const body = namespace === undefined ? object : { ...object, metadata: { ...(object.metadata as object), namespace } };
  if (options.dryRun === 'client')
    return results.done({ resource, name: name || `${generateName}<made by the server>` }, 'created', body as ApiItem);
  try {
    const { object: made } = await work.sendTo(resource, namespace, {
      method: 'POST',
      body,
      query: {
        fieldManager: options.fieldManager,
        fieldValidation: options.validate,
        dryRun: options.dryRun === 'server' ? 'All' : undefined,
      },
    });
    results.done({ resource, name: made.metadata?.name ?? name }, 'created', made);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    throw new ApiError(error.code, error.reason, `${error.message}; \`plat apply\` changes objects that exist`);
  }
}

// ---- from flags ------------------------------------------------------------------------------------------------

async function makeOne(maker: Maker, argv: readonly string[], io: IO): Promise<number> {
  const { options, args } = parseFlags({ ...commonFlags, Making: maker.flags }, argv);
  const [name, more] = args;
  if (name === undefined) throw new FlagError(`the ${maker.kindPath.join(' ')} needs a name: ${maker.example}`);
  if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
  const known = options as CreateOptions;
  const results = new Results(io, known);
  const make = async (work: Work | undefined): Promise<number> => {
    const resource = maker.core ? coreResource(maker) : await accessResource(maker, work as Work);
    const content = await maker.make(options, { io, work: () => work as Work });
    const namespace = maker.namespaced ? (work?.namespace ?? known.namespace) : undefined;
    // A dry run leaves the namespace out unless it was given, so that the output can be used in any.
    const shown = known.dryRun === 'client' ? known.namespace : namespace;
    const metadata = { name, ...(maker.namespaced && shown !== undefined && { namespace: shown }) };
    const object = { apiVersion: apiVersionOf(resource), kind: maker.kind, metadata, ...content } as Manifest['object'];
    if (known.dryRun === 'client') results.done({ resource, name }, 'created', object as ApiItem);
    else await createOne(work as Work, resource, namespace, object, known, results);
    return results.end();
  };
  // A dry run of an object of the core group needs no server.
  if (maker.core && known.dryRun === 'client') return make(undefined);
  // For bindings --user is a subject, not the user of the client configuration.
  return withServer('user' in maker.flags ? { ...known, user: undefined } : known, io, make);
}

const coreResource = ({ kind, plural, namespaced }: Maker): ApiResource => ({
  group: '',
  version: 'v1',
  name: plural,
  singularName: kind.toLowerCase(),
  kind,
  namespaced,
  verbs: [],
  shortNames: [],
  categories: [],
});
async function accessResource(maker: Maker, work: Work): Promise<ApiResource> {
  const found = (await work.discovery.all()).find((r) => r.kind === maker.kind && r.group.startsWith('rbac.authorization.'));
  if (found === undefined) throw new Error(`the server has no ${maker.plural}`);
  return found;
}
