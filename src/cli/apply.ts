/** `plat apply`: creates or updates objects from files. The server merges; called as kubectl, the client does. */
import { bool, FlagError, type FlagValues, optionalBool, repeated, text } from '../lib/flags.ts';
import { parseLabelSelector } from '../meta/labels.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { commandLine, recordFlag } from './edit/record.ts';
import { deletingFlags } from './objects/delete.ts';
import { findManifests, labelsOf, namesManifests } from './objects/manifests.ts';
import { dryRunFlag, fileFlags, namespaceFlag, resultFlags, validateFlag } from './objects/object-flags.ts';
import { fieldManager, isStock } from './program.ts';
import { withServer } from './work.ts';

type Wait = 'false' | 'true' | 'ready';

const { cascade, 'grace-period': gracePeriod, timeout } = deletingFlags;
const applyFlags = {
  Objects: {
    ...fileFlags,
    namespace: namespaceFlag,
    selector: text('', 'Apply, and prune, only objects that match this label selector.', { short: 'l', value: 'QUERY' }),
  },
  Applying: {
    'server-side': optionalBool('Let the server merge; false: compare with the last applied object on this side.', {
      defaultText: 'true; false as kubectl',
    }),
    'field-manager': text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' }),
    'force-conflicts': bool(false, 'Take ownership of fields that conflict with other managers.'),
    overwrite: bool(true, 'Without --server-side: set fields that others changed since the last apply; false: refuse.', {
      defaultText: 'true',
    }),
    'openapi-patch': bool(true, 'Without --server-side: ask the server how to merge fields that this program does not know.', {
      defaultText: 'true',
    }),
    force: bool(false, 'Delete and create an object again if a change is refused, for example of an immutable field.'),
    'dry-run': dryRunFlag,
    record: recordFlag,
    // Most servers refuse unknown fields of a server-side apply in any case.
    validate: validateFlag,
  },
  'Pruning and waiting': {
    prune: bool(false, 'Delete objects that were applied before and are not in the files; needs --selector or --all.'),
    all: bool(false, 'Prune all objects, whatever their labels.'),
    'prune-whitelist': repeated<readonly string[]>(
      [],
      'Prune only this kind: core/v1/ConfigMap; may be repeated.',
      'GROUP/VERSION/KIND',
      (values) => values,
    ),
    cascade,
    'grace-period': gracePeriod,
    wait: {
      ...text('false', 'ready: wait until all objects are ready; true: wait until pruned objects are gone.', { value: 'ready|true' }),
      isSwitch: true,
      defaultText: '',
      read: (values: readonly string[]): string => {
        const value = values.at(-1) as string;
        if (['true', 'false', 'ready'].includes(value)) return value;
        throw new Error(`${JSON.stringify(value)} is not one of ready, true, false`);
      },
    },
    timeout: { ...timeout, help: 'Longest wait; 0 is unlimited.' },
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type ApplyFlags = FlagValues<typeof applyFlags>;
export interface ApplyOptions extends Omit<ApplyFlags, 'serverSide' | 'wait'> {
  readonly serverSide: boolean;
  readonly wait: Wait;
}

export const apply = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Create or update objects from files: plat apply -f web.yaml, plat apply -k overlays/test, helm template x | plat apply -f -',
  flags: applyFlags,
  commands: [
    {
      name: 'edit-last-applied',
      summary: 'Edit what a client-side apply keeps in its annotation.',
      load: async () => (await import('./apply/edit-last-applied.ts')).editLastApplied,
    },
    {
      name: 'set-last-applied',
      summary: 'Set the annotation of a client-side apply to the content of files.',
      load: async () => (await import('./apply/set-last-applied.ts')).setLastApplied,
    },
    {
      name: 'view-last-applied',
      summary: 'Show what was applied by a client-side apply.',
      load: async () => (await import('./apply/view-last-applied.ts')).viewLastApplied,
    },
  ],
  more: `
Examples:
  plat apply -R -f manifests/ --wait=ready --timeout 2m      and wait until everything runs
  plat apply -f app.yaml --prune -l app=web                  delete what left the file
  plat apply -f app.yaml --server-side=false                 compare on this side, as kubectl does
  plat apply view-last-applied deployment/web

Exit codes:
  0   all objects were applied
  1   some objects failed or are not ready; the others were applied
  2   the command line is wrong
`,
  async run({ options: flags, args, given, raw }, io) {
    if (args.length > 0) throw new FlagError(`apply takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (!namesManifests(flags)) throw new FlagError('which objects? For example: plat apply -f web.yaml, plat apply -k overlays/test');
    const serverSide = flags.serverSide ?? !isStock(io);
    const manager = fieldManager(io, serverSide ? 'apply --server-side' : 'apply', flags.fieldManager);
    const options: ApplyOptions = { ...flags, serverSide, fieldManager: manager, wait: flags.wait as Wait };
    await check(options, given, isStock(io));
    const selector = parseLabelSelector(options.selector);
    const { manifests: all, broken } = await findManifests(options, io, options.validate !== 'Ignore');
    const manifests = all.filter(({ object }) => selector.matches(labelsOf(object)));
    const { Applier } = await import('./apply/applier.ts');
    return withServer(options, io, (work) => new Applier(work, options, commandLine(io, 'apply', args, raw)).run(manifests, broken));
  },
});

async function check(options: ApplyOptions, given: ReadonlySet<string>, stock: boolean): Promise<void> {
  const { serverSide, forceConflicts, dryRun, force, all, selector, prune } = options;
  if (forceConflicts && !serverSide) throw new FlagError('--force-conflicts only works with --server-side');
  if (dryRun === 'client' && serverSide && stock) {
    throw new FlagError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)");
  }
  if (force && serverSide && given.has('server-side')) throw new FlagError('--force cannot be used with --server-side');
  if (force && dryRun === 'server') throw new FlagError('--dry-run=server cannot be used with --force');
  if (all && selector !== '') throw new FlagError('cannot set --all and --selector at the same time');
  if (prune && !all && selector === '') {
    throw new FlagError(
      'all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector',
    );
  }
  if (prune) (await import('./apply/prune.ts')).checkPruneKinds(options.pruneWhitelist);
  // As kubectl these flags are accepted where they mean nothing.
  if (stock) return;
  for (const flag of ['overwrite', 'openapi-patch']) {
    if (serverSide && given.has(flag)) throw new FlagError(`--${flag} needs --server-side=false`);
  }
  for (const flag of ['all', 'prune-whitelist']) if (!prune && given.has(flag)) throw new FlagError(`--${flag} needs --prune`);
}
