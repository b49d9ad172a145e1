/** `plat replace`: replaces objects with those of files. */
import { bool, FlagError, type FlagValues, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { withNamespace } from './apply.ts';
import { FieldChecker } from './check-fields.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { deleteObject, deletingFlags, waitUntilGone } from './delete.ts';
import { Deadline } from './follow-object.ts';
import { type Manifest, readManifests } from './manifests.ts';
import { dryRunFlag, fileFlags, managerFlag, namespaceFlag, resultFlags, validateFlag } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { refOf } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

const { cascade, timeout, 'grace-period': gracePeriod } = deletingFlags;
const replaceFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Replacing: {
    force: bool(false, 'Delete the object, wait until it is gone, and create it; create it if it does not exist.'),
    cascade,
    'grace-period': gracePeriod,
    timeout,
    subresource: text('', 'Replace this subresource: status, scale.', { value: 'NAME' }),
    'field-manager': managerFlag,
    'dry-run': dryRunFlag,
    validate: validateFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type ReplaceOptions = FlagValues<typeof replaceFlags>;

export const replace = command({
  usage: '-f FILE|DIR|URL|- [flags]',
  summary: 'Replace objects with those of files: plat replace -f web.yaml, plat get cm/a -o yaml | sed s/a/b/ | plat replace -f -',
  flags: replaceFlags,
  more: `
A file with metadata.resourceVersion replaces that version only; without it, the current one.

Exit codes:
  0   all objects were replaced
  1   some objects failed; the others were replaced
  2   the command line is wrong
`,
  async run({ options, args, given }, io) {
    if (args.length > 0) throw new FlagError(`replace takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (options.filename.length === 0) throw new FlagError('which objects? For example: plat replace -f web.yaml');
    for (const flag of ['cascade', 'grace-period', 'timeout']) {
      if (given.has(flag) && !options.force) throw new FlagError(`--${flag} needs --force`);
    }
    if (options.force && (options.dryRun !== 'none' || options.subresource !== '')) {
      throw new FlagError('--force excludes --dry-run and --subresource: a deletion cannot be undone');
    }
    const manifests = await readManifests(options.filename, options.recursive, io);
    return withServer(options, io, (work) => replaceAll(work, manifests, options));
  },
});

async function replaceAll(work: Work, manifests: readonly Manifest[], options: ReplaceOptions): Promise<number> {
  const results = new Results(work.io, options);
  const fields = new FieldChecker(work, options.validate);
  for (const manifest of manifests) {
    let what = manifest.source;
    try {
      const resource = await work.discovery.forKind(manifest.object.apiVersion, manifest.object.kind);
      const ref = refOf(manifest, resource, work, options.namespace);
      what = shownName(resource, ref.name);
      if (options.subresource === '') await fields.check(resource, manifest.object);
      const object = ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace);
      if (options.dryRun === 'client') results.done(ref, 'replaced', object as ApiItem);
      else results.done(ref, 'replaced', await (options.force ? recreate(work, ref, object, options) : put(work, ref, object, options)));
    } catch (error) {
      results.failed(what, error);
    }
  }
  return results.end();
}

async function put(work: Work, ref: ObjectRef, object: Manifest['object'], options: ReplaceOptions): Promise<ApiItem> {
  const subresource = options.subresource === '' ? undefined : options.subresource;
  const { object: now } = await work.send(ref, { method: 'GET', subresource }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
    throw new ApiError(404, error.reason, `${error.message}; use \`plat create\` or \`plat apply\` for objects that do not exist`);
  });
  const metadata = object.metadata as { resourceVersion?: string };
  // Some kinds require a resourceVersion; without one the current version is replaced.
  const body = { ...object, metadata: { ...metadata, resourceVersion: metadata.resourceVersion ?? now.metadata?.resourceVersion } };
  return (await work.send(ref, { method: 'PUT', subresource, body, query: queryFor(options) })).object;
}

async function recreate(work: Work, ref: ObjectRef, object: Manifest['object'], options: ReplaceOptions): Promise<ApiItem> {
  try {
    const uid = await deleteObject(work, ref, { ...options, now: false });
    await waitUntilGone(work, ref, uid, new Deadline(options.timeout, work.io.clock));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
  }
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata as { resourceVersion?: string; uid?: string };
  const body = { ...object, metadata };
  return (await work.sendTo(ref.resource, ref.namespace, { method: 'POST', body, query: queryFor(options) })).object;
}

const queryFor = ({ fieldManager, validate, dryRun }: ReplaceOptions) => ({
  fieldManager,
  fieldValidation: validate,
  dryRun: dryRun === 'server' ? 'All' : undefined,
});
