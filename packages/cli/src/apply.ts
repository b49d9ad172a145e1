/** `plat apply`: creates or updates objects from files. The server merges; called as kubectl, the client does. */

import { FlagError } from '@plat-dev/lib/flags';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { type ApplyOptions, applyFlags } from './apply/flags.ts';
import { command } from './command.ts';
import { commandLine } from './edit/record.ts';
import { findManifests, labelsOf, namesManifests } from './objects/manifests.ts';
import { fieldManager, isStock } from './program.ts';
import { withServer } from './work.ts';

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
  async run({ options: flags, args, givenFlags, raw }, io) {
    if (args.length > 0) throw new FlagError(`apply takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (!namesManifests(flags)) throw new FlagError('which objects? For example: plat apply -f web.yaml, plat apply -k overlays/test');
    const serverSide = flags.serverSide ?? !isStock(io);
    const manager = fieldManager(io, serverSide ? 'apply --server-side' : 'apply', flags.fieldManager);
    const options: ApplyOptions = { ...flags, serverSide, fieldManager: manager, wait: flags.wait as ApplyOptions['wait'] };
    await check(options, givenFlags, isStock(io));
    const selector = parseLabelSelector(options.selector);
    const { manifests: all, broken } = await findManifests(options, io, options.validate !== 'Ignore');
    const manifests = all.filter(({ object }) => selector.matches(labelsOf(object)));
    const { Applier } = await import('./apply/applier.ts');
    return withServer(options, io, (work) => new Applier(work, options, commandLine(io, 'apply', args, raw)).run(manifests, broken));
  },
});

async function check(options: ApplyOptions, givenFlags: ReadonlySet<string>, stock: boolean): Promise<void> {
  const { serverSide, forceConflicts, dryRun, force, all, selector, prune } = options;
  if (forceConflicts && !serverSide) throw new FlagError('--force-conflicts only works with --server-side');
  if (dryRun === 'client' && serverSide && stock) {
    throw new FlagError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)");
  }
  if (force && serverSide && givenFlags.has('server-side')) throw new FlagError('--force cannot be used with --server-side');
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
    if (serverSide && givenFlags.has(flag)) throw new FlagError(`--${flag} needs --server-side=false`);
  }
  for (const flag of ['all', 'prune-whitelist']) if (!prune && givenFlags.has(flag)) throw new FlagError(`--${flag} needs --prune`);
}
