/** The shared part of `plat set`: reads objects of the server or of files, changes them, and sends the difference. */

import type { FlagTable, FlagValues } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import { type ConnectOptions, connectFlags } from '../connect.ts';
import { changeCause, commandLine, withAnnotations } from '../edit/record.ts';
import { checkLocal, localFlag, localObjects } from '../objects/local-objects.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags, selectFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { checkTargets, findTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { type PatchType, patchBetween } from './patch-between.ts';

/** Flags of every command below `set`. */
export const setFlags = <F extends FlagTable[string]>(own: F) => ({
  Objects: { ...fileFlags, namespace: namespaceFlag, selector: selectFlags.selector, all: selectFlags.all, local: localFlag },
  Changing: { ...own, 'field-manager': commandManagerFlag, 'dry-run': dryRunFlag },
  Printing: resultFlags,
  Connecting: connectFlags,
});
type SetOptions = Omit<FlagValues<ReturnType<typeof setFlags<Record<never, never>>>>, 'selector'> & {
  readonly selector?: string;
  readonly record?: boolean;
  readonly resourceVersion?: string;
} & ConnectOptions;

export interface Update {
  /** The command below `set`. */
  readonly name: string;
  /** For the message: `image updated`. */
  readonly verb: string;
  readonly options: SetOptions;
  /** Arguments that name objects. */
  readonly args: readonly string[];
  /** All arguments and flags, for --record. */
  readonly line: { readonly args: readonly string[]; readonly raw: ReadonlyMap<string, readonly string[]> };
  /** Report objects that need no change, too. */
  readonly reportsAll?: boolean;
  /** Only `change` is called, nothing is written or reported: for --list. */
  readonly readOnly?: boolean;
  /** The changed object. `work` is undefined with --local. Throws an Error for an object that cannot be changed so. */
  change(object: JsonObject, work: Work | undefined): Promise<JsonObject>;
}

/** Returns the exit code. */
export async function update(what: Update, io: IO): Promise<number> {
  const { options, args, name } = what;
  if (options.local) checkLocal(args, options);
  else checkTargets(`set ${name}`, args, options);
  if (options.local) return updateLocal(what, io);
  return withServer(options, io, (work) => updateRemote(what, work));
}

async function updateLocal(what: Update, io: IO): Promise<number> {
  const results = new Results(io, what.options);
  for (const { ref, object } of await localObjects(what.options, io, results)) {
    try {
      const changed = await what.change(object, undefined);
      report(what, ref, object, changed, results);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}
function report(what: Update, ref: ObjectRef, before: JsonObject, after: JsonObject, results: Results): void {
  if (what.readOnly || (!what.reportsAll && isEmpty(patchBetween(before, after, 'merge')))) return;
  results.done(ref, what.verb, after as ApiItem);
}
const isEmpty = (patch: JsonObject): boolean => Object.keys(patch).length === 0;

async function updateRemote(what: Update, work: Work): Promise<number> {
  const { options, line } = what;
  const results = new Results(work.io, options);
  const annotations = await changeCause(work, options.record ?? false, commandLine(work.io, `set ${what.name}`, line.args, line.raw));
  for (const ref of await findTargets(work, what.args, options)) {
    try {
      const original = await work.getNamed<JsonObject>(ref);
      const changed = withAnnotations(await what.change(original, work), annotations);
      if (what.readOnly || options.dryRun === 'client') report(what, ref, original, changed, results);
      else await send(what, work, ref, { original, changed }, results);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}

async function send(
  { options, verb, reportsAll }: Update,
  work: Work,
  ref: ObjectRef,
  { original, changed }: { original: JsonObject; changed: JsonObject },
  results: Results,
): Promise<void> {
  const type: PatchType = builtInGroups.has(ref.resource.group) ? 'strategic' : 'merge';
  const patch = patchBetween(original, changed, type);
  if (isEmpty(patch) && !reportsAll) return;
  const version = options.resourceVersion ?? '';
  const { object } = await work.send(ref, {
    method: 'PATCH',
    contentType: contentTypes[type],
    body: version === '' ? patch : { ...patch, metadata: { ...(patch.metadata as JsonObject), resourceVersion: version } },
    query: { fieldManager: fieldManager(work.io, 'set', options.fieldManager), dryRun: options.dryRun === 'server' ? 'All' : undefined },
  });
  results.done(ref, verb, object);
}
const contentTypes = { strategic: 'application/strategic-merge-patch+json', merge: 'application/merge-patch+json' } as const;
/** Groups whose kinds have pod templates and strategic patches; custom kinds have none. */
const builtInGroups: ReadonlySet<string> = new Set(['', 'apps', 'batch']);
