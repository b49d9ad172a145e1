/** The command of a maker: `plat create deployment web --image=nginx`. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { FlagError, type FlagTable, type FlagValues, parseFlags } from '@plat-dev/lib/flags';
import { systemRandom } from '@plat-dev/lib/random';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { type Command, helpText, type IO } from '../command.ts';
import { exampleLines } from '../command-group.ts';
import { connectFlags } from '../connect.ts';
import { serverIdentity } from '../discovery/api-groups.ts';
import { commandManagerFlag, dryRunFlag, namespaceFlag, resultFlags, validateFlag } from '../objects/object-flags.ts';
import { Results } from '../output/results.ts';
import { fieldManager, isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { createObject, saveConfigFlag, showObject } from './create-objects.ts';
import type { Maker } from './maker.ts';

const commonFlags = {
  Creating: {
    namespace: namespaceFlag,
    'field-manager': commandManagerFlag,
    'dry-run': dryRunFlag,
    validate: validateFlag,
    'save-config': saveConfigFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof commonFlags>;
type Names = Pick<Identity, 'groupSuffix' | 'domain'>;

export function makerCommand(maker: Maker): Command {
  // The maker's own flags are last, since they replace global ones of the same name: --user of bindings.
  const own: FlagTable = Object.keys(maker.flags).length === 0 ? {} : { [maker.kind]: maker.flags };
  const flags: FlagTable & typeof commonFlags = { ...commonFlags, ...own };
  return {
    usage: maker.usage,
    summary: maker.summary,
    flags,
    help: (width) => helpText({ ...own, ...commonFlags }, exampleLines(maker.examples), width),
    async run(argv, io) {
      const at = argv.indexOf('--');
      const command = at === -1 ? [] : argv.slice(at + 1);
      const { options, args } = parseFlags(flags, at === -1 ? argv : argv.slice(0, at));
      const [name, more] = args;
      if (name === undefined) throw new FlagError(`the ${maker.path} needs a name: ${maker.examples[0]}`);
      const takesCommand = maker.usage.includes('--');
      if (more !== undefined)
        throw new FlagError(`too many arguments: ${JSON.stringify(more)}${takesCommand ? '; a command comes after --' : ''}`);
      if (command.length > 0 && !takesCommand) throw new FlagError(`a ${maker.path} has no command: ${JSON.stringify(command[0])}`);
      return makeOne(maker, name, command, options as Options, io);
    },
  };
}

async function makeOne(maker: Maker, name: string, command: readonly string[], options: Options, io: IO): Promise<number> {
  const results = new Results(io, options);
  const sending = { ...options, fieldManager: fieldManager(io, 'create', options.fieldManager) };
  const make = async (identity: Names, work: Work | undefined): Promise<number> => {
    const resource = resourceOf(maker, identity);
    const world = { io, random: systemRandom, name, command, identity, work: () => work as Work };
    const { metadata = {}, ...content } = await maker.make(options, world);
    // A dry run leaves the namespace out unless it was given, so that the output can be used in any.
    const namespace = maker.namespaced ? (options.dryRun === 'client' ? options.namespace : work?.namespace) : undefined;
    const inNamespace: JsonObject = namespace === undefined ? {} : { namespace };
    const whole = { name, ...inNamespace, ...(metadata as JsonObject) };
    const object = { apiVersion: apiVersionOf(resource), kind: maker.kind, metadata: whole, ...content };
    const creation = { resource, namespace, object, verb: 'created' };
    if (options.dryRun === 'client') showObject(io, creation, sending, results);
    else await createObject(work as Work, creation, sending, results);
    return results.end();
  };
  const offline = options.dryRun === 'client' ? offlineNames(maker, options, io) : undefined;
  if (offline !== undefined) return make(offline, undefined);
  // For bindings --user is a subject, not the user of the client configuration.
  const connecting = 'user' in maker.flags ? { ...options, user: undefined } : options;
  return withServer(connecting, io, async (work) => make(hasIdentityNames(maker) ? await serverIdentity(work) : noNames, work));
}

const noNames: Names = { groupSuffix: '', domain: '' };
const isSuffixed = ({ group }: Maker): boolean => groupName(identities.plat as Identity, group) !== group;
const hasIdentityNames = (maker: Maker): boolean => isSuffixed(maker) || maker.hasDomainNames || maker.needsServer !== false;

/** The names for a dry run without a server; undefined if one is needed. */
function offlineNames(maker: Maker, options: Readonly<Record<string, unknown>>, io: IO): Names | undefined {
  if (typeof maker.needsServer === 'function' ? maker.needsServer(options) : maker.needsServer) return undefined;
  if (!hasIdentityNames(maker) || (!isSuffixed(maker) && !maker.hasDomainNames)) return noNames;
  return isStock(io) ? (identities.kubernetes as Names) : undefined;
}

const resourceOf = ({ group, kind, plural, namespaced }: Maker, identity: Names): ApiResource => ({
  group: groupName(identity as Identity, group),
  version: 'v1',
  name: plural,
  singularName: kind.toLowerCase(),
  kind,
  namespaced,
  verbs: [],
  shortNames: [],
  categories: [],
});
