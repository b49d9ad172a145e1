/** `plat patch`: updates fields of objects with a strategic, merge, JSON or apply patch. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bool, choice, FlagError, type FlagValues, file, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { withObjectHint } from '../get/hints.ts';
import { checkLocal, localFlag, localObjects } from '../objects/local-objects.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { checkTargets, findTargets } from '../objects/targets.ts';
import { conflictText, isApplyConflict } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { patchedLocally } from './local-patch.ts';
import { changeCause, commandLine, recordFlag } from './record.ts';
import { sameObject } from './same-object.ts';

const contentTypes = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const patchFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag, local: localFlag },
  Patching: {
    type: choice('strategic', ['strategic', 'merge', 'json', 'apply'], 'Type of the patch. Custom resources have no strategic patches.'),
    patch: text('', 'The patch, as JSON or YAML.', { short: 'p', value: 'PATCH' }),
    'patch-file': file('File with the patch.'),
    subresource: text('', 'Patch this subresource: status, scale.', { value: 'NAME' }),
    'field-manager': commandManagerFlag,
    'force-conflicts': bool(false, 'With --type apply: take ownership of fields that conflict with other managers.'),
    'dry-run': dryRunFlag,
    record: recordFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type PatchOptions = FlagValues<typeof patchFlags>;

export const patch = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE  -p PATCH | --patch-file FILE [flags]',
  summary: 'Update fields of objects with a patch.',
  flags: patchFlags,
  more: `
Examples:
  plat patch deployment web -p '{"spec":{"replicas":3}}'
  plat patch cm/a --type json -p '[{"op":"remove","path":"/data/x"}]'
  plat patch -f web.yaml --local -p 'spec: {replicas: 3}' -o yaml

Types of patches:
  strategic   objects are merged, and lists by the merge keys of the kind: containers by name, for example
  merge       objects are merged, lists replaced; null removes a field
  json        a list of operations: add, remove, replace, move, copy, test
  apply       the fields that --field-manager owns, as with plat apply

Exit codes:
  0   all objects were patched, or needed no change
  1   some objects failed; the others were patched
  2   the command line is wrong
`,
  async run({ options, args, raw }, io) {
    if (options.local) checkLocal(args, options);
    else checkTargets('patch', args, options);
    if (options.forceConflicts && options.type !== 'apply') throw new FlagError('--force-conflicts needs --type apply');
    const body = await readPatch(options, io);
    if ((options.local || options.dryRun === 'client') && options.type === 'apply') {
      throw new FlagError('only the server can apply: leave --local out and use --dry-run=server');
    }
    if (options.local) return patchHere(options, body, io);
    return withServer(options, io, (work) => patchAll(work, args, options, body, commandLine(io, 'patch', args, raw)));
  },
});

async function readPatch(options: PatchOptions, io: IO): Promise<JsonValue> {
  const { patch: patchText, patchFile, type } = options;
  if ((patchText === '') === (patchFile === undefined))
    throw new FlagError(
      'patch missing: give it with either -p or --patch-file',
      'error: must specify --patch or --patch-file containing the contents of the patch',
    );
  const source = patchText === '' ? await readFile(resolve(io.cwd, patchFile as string), 'utf8').catch(() => undefined) : patchText;
  if (source === undefined) throw new FlagError(`the file ${patchFile} cannot be read`);
  let value: JsonValue;
  try {
    value = parseYaml(source, { single: true });
  } catch (error) {
    throw new FlagError(`the patch cannot be read: ${(error as Error).message}`);
  }
  if (type === 'json' && !Array.isArray(value)) throw new FlagError('a patch of --type json is a list of operations');
  if (type !== 'json' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw new FlagError(`a patch of --type ${type} is an object${Array.isArray(value) ? '; a list of operations is --type json' : ''}`);
  }
  return value;
}

/** Patches the objects of files, and prints them. */
async function patchHere(options: PatchOptions, body: JsonValue, io: IO): Promise<number> {
  const results = new Results(io, options);
  for (const { ref, object } of await localObjects(options, io, results)) {
    try {
      await showPatched(ref, object, options, body, results);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}
async function showPatched(ref: ObjectRef, original: JsonObject, options: PatchOptions, body: JsonValue, results: Results): Promise<void> {
  const after = await patchedLocally(original, options.type as Exclude<PatchOptions['type'], 'apply'>, body);
  results.done(ref, sameObject(original as ApiItem, after as ApiItem) ? 'patched (no change)' : 'patched', after as ApiItem);
}

async function patchAll(work: Work, args: readonly string[], options: PatchOptions, body: JsonValue, line: string): Promise<number> {
  const results = new Results(work.io, options);
  const annotations = await changeCause(work, options.record, line);
  for (const ref of await findTargets(work, args, options)) {
    try {
      await patchOne(work, ref, options, body, results, annotations);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), await explained(work, ref, error, options));
    }
  }
  return results.end();
}

async function patchOne(
  work: Work,
  ref: ObjectRef,
  options: PatchOptions,
  body: JsonValue,
  results: Results,
  annotations: Record<string, string> | undefined,
): Promise<void> {
  const { type, dryRun, forceConflicts } = options;
  const subresource = options.subresource === '' ? undefined : options.subresource;
  const original = await work.get(ref, subresource).catch((error: unknown) => {
    if (error instanceof ApiError && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  });
  if (dryRun === 'client') return showPatched(ref, (original ?? (await work.get(ref, subresource))) as JsonObject, options, body, results);
  const query = { fieldManager: fieldManager(work.io, 'patch', options.fieldManager), dryRun: dryRun === 'server' ? 'All' : undefined };
  const { status, object } = await work.send(ref, {
    method: 'PATCH',
    subresource,
    body,
    contentType: contentTypes[type],
    query: { ...query, force: forceConflicts || undefined },
  });
  if (annotations !== undefined) {
    await work.send(ref, { method: 'PATCH', body: { metadata: { annotations } }, contentType: contentTypes.merge, query });
  }
  results.done(
    ref,
    status === 201 ? 'created' : original !== undefined && sameObject(original, object) ? 'patched (no change)' : 'patched',
    object,
  );
}

async function explained(work: Work, ref: ObjectRef, error: unknown, { type, subresource }: PatchOptions): Promise<unknown> {
  if (isApplyConflict(error)) return new Error(conflictText(error, work.io));
  if (error instanceof ApiError && error.code === 415 && type === 'strategic') {
    return new Error('this kind has no strategic patches: use --type merge, json or apply');
  }
  if (error instanceof ApiError && error.code === 404 && subresource !== '' && (await work.exists(ref))) {
    return new Error(`this kind has no subresource ${JSON.stringify(subresource)}`);
  }
  return withObjectHint(work, error, ref);
}
