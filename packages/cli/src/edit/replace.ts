/** `plat replace`: replaces objects with those of files. */
import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import { lastAppliedText, withLastApplied } from '../apply/last-applied.ts';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { FieldChecker } from '../objects/check-fields.ts';
import { deletedLine, deleteObject, deletingFlags, waitUntilGone } from '../objects/delete.ts';
import { Deadline } from '../objects/follow-object.ts';
import type { Manifest } from '../objects/manifest.ts';
import { findManifests, namesManifests, readTexts, withNamespace } from '../objects/manifests.ts';
import { dryRunFlag, fileFlags, namespaceFlag, resultFlags, validateFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { sendRaw } from '../objects/raw-request.ts';
import { refOf } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager, isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';

const { cascade, timeout, 'grace-period': gracePeriod } = deletingFlags;
const replaceFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Replacing: {
    force: bool(false, 'Delete the object, wait until it is gone, and create it; create it if it does not exist.'),
    cascade,
    'grace-period': gracePeriod,
    timeout,
    wait: bool(false, 'With --force: wait until the object is gone before it is created again; always so.'),
    subresource: text('', 'Replace this subresource: status, scale.', { value: 'NAME' }),
    'save-config': bool(false, 'Keep the object in the annotation of a client-side apply.'),
    raw: text('', 'Send a PUT to this path of the server, with the content of -f as its body, and print the answer.', { value: 'PATH' }),
    'field-manager': text('', 'Field manager for the changed fields.', { value: 'NAME', defaultText: 'plat' }),
    'dry-run': dryRunFlag,
    validate: validateFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type ReplaceOptions = FlagValues<typeof replaceFlags>;

export const replace = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Replace objects with those of files: plat replace -f web.yaml, plat get cm/a -o yaml | sed s/a/b/ | plat replace -f -',
  flags: replaceFlags,
  more: `
A file with metadata.resourceVersion replaces that version only; without it, the current one.

Examples:
  plat replace -k overlays/test
  plat replace --force -f job.yaml              delete and create it again
  plat replace --raw /api/v1/namespaces/a/configmaps/b -f b.json

Exit codes:
  0   all objects were replaced
  1   some objects failed; the others were replaced
  2   the command line is wrong
`,
  async run({ options: flags, args, givenFlags }, io) {
    if (args.length > 0) throw new FlagError(`replace takes no arguments, but got ${JSON.stringify(args[0])}: name files with -f`);
    if (!namesManifests(flags)) throw new FlagError('which objects? For example: plat replace -f web.yaml');
    for (const flag of ['cascade', 'grace-period', 'timeout', 'wait']) {
      if (givenFlags.has(flag) && !flags.force) throw new FlagError(`--${flag} must have --force specified`);
    }
    if (flags.force && (flags.dryRun !== 'none' || flags.subresource !== '')) {
      throw new FlagError('--force excludes --dry-run and --subresource: a deletion cannot be undone');
    }
    const options = { ...flags, fieldManager: fieldManager(io, 'replace', flags.fieldManager) };
    if (options.raw !== '') {
      checkRaw(options);
      return withServer(options, io, (work) => replaceRaw(work, options, io));
    }
    const { manifests, broken } = await findManifests(options, io, options.validate !== 'Ignore');
    return withServer(options, io, (work) => {
      work.leaveOut(broken);
      return replaceAll(work, manifests, options);
    });
  },
});

function checkRaw({ raw, filename, recursive, output }: ReplaceOptions): void {
  if (filename.length !== 1) throw new FlagError('--raw can only use a single local file or stdin');
  if (/^https?:\/\//.test(filename[0] as string)) throw new FlagError('--raw cannot read from a url');
  if (recursive) throw new FlagError('--raw and --recursive are mutually exclusive');
  if (output !== '') throw new FlagError('--raw and --output are mutually exclusive');
  if (!raw.startsWith('/')) throw new FlagError('--raw must be a valid URL path: it begins with a slash');
}
async function replaceRaw(work: Work, { raw, filename }: ReplaceOptions, io: IO): Promise<number> {
  const [body] = await readTexts(filename, false, io);
  io.out(await sendRaw(work, 'PUT', raw, body?.text ?? ''));
  return 0;
}

async function replaceAll(work: Work, manifests: readonly Manifest[], options: ReplaceOptions): Promise<number> {
  const results = new Results(work.io, options);
  const fields = new FieldChecker(work, options.validate);
  for (const manifest of manifests) {
    let what = manifest.source;
    try {
      const resource = await work.resourceOf(manifest);
      const ref = refOf(manifest, resource, work, options.namespace);
      what = shownName(resource, ref.name);
      if (options.subresource === '') await fields.check(resource, manifest.object, manifest.origin);
      const namespaced = ref.namespace === undefined ? manifest.object : withNamespace(manifest.object, ref.namespace);
      const object = options.saveConfig || lastAppliedText(namespaced) !== undefined ? withLastApplied(namespaced) : namespaced;
      if (options.dryRun === 'client') results.done(ref, 'replaced', object as ApiItem);
      else results.done(ref, 'replaced', await (options.force ? recreate(work, ref, object, options) : put(work, ref, object, options)));
    } catch (error) {
      results.failed(what, error, `error when replacing ${JSON.stringify(manifest.origin)}`);
    }
  }
  return results.end();
}

async function put(work: Work, ref: ObjectRef, object: Manifest['object'], options: ReplaceOptions): Promise<ApiItem> {
  const subresource = options.subresource === '' ? undefined : options.subresource;
  const { object: now } = await work.send(ref, { method: 'GET', subresource }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 404 || isStock(work.io)) throw error;
    throw new ApiError(404, error.reason, `${error.message}; use \`plat create\` or \`plat apply\` for objects that do not exist`);
  });
  const metadata = object.metadata as { resourceVersion?: string };
  // Some kinds require a resourceVersion; without one the current version is replaced.
  const body = { ...object, metadata: { ...metadata, resourceVersion: metadata.resourceVersion ?? now.metadata?.resourceVersion } };
  return (await work.send(ref, { method: 'PUT', subresource, body, query: queryFor(options) })).object;
}

async function recreate(work: Work, ref: ObjectRef, object: Manifest['object'], options: ReplaceOptions): Promise<ApiItem> {
  try {
    const uid = await deleteObject(work, ref, {
      ...options,
      gracePeriod: options.gracePeriod === 0 ? 1 : options.gracePeriod,
      force: false,
      now: false,
    });
    if (options.output === '') work.io.out(deletedLine(ref, 'deleted'));
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
