/** `plat auth reconcile`: adds missing permissions and subjects to roles and bindings. */
import { bool, FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { anyIdentityAnnotation } from '@plat-dev/meta/identity';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import type { Manifest } from '../objects/manifest.ts';
import { findManifests, namesManifests } from '../objects/manifests.ts';
import { dryRunFlag, fileFlags, namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { refOf } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { printable } from '../output/print-table.ts';
import { Results } from '../output/results.ts';
import { withStockText } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { type BindingObject, type Reconciled, type RoleObject, reconciledBinding, reconciledRole } from './role-reconciliation.ts';

const table = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Reconciling: {
    'remove-extra-permissions': bool(false, 'Remove permissions that the files do not have.'),
    'remove-extra-subjects': bool(false, 'Remove subjects that the files do not have.'),
    'dry-run': dryRunFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;
type AccessObject = RoleObject | BindingObject;

/** Of any identity. */
const isAccessGroup = (group: string): boolean => group.startsWith('rbac.authorization.');
const isRole = (kind: string): boolean => kind === 'Role' || kind === 'ClusterRole';
const isBinding = (kind: string): boolean => kind === 'RoleBinding' || kind === 'ClusterRoleBinding';
const VERSION = 'v1';

export const reconcile = command({
  usage: '-f FILE [flags]',
  summary: 'Add missing permissions and subjects to roles and bindings.',
  flags: table,
  more: `
What is missing is created, with its namespace. Permissions and subjects that only the server has stay, unless a flag removes
them. A binding to another role is deleted and created again. Objects of other kinds in the files are skipped, and so are
changes of objects with the annotation autoupdate: "false".

Examples:
  plat auth reconcile -f roles.yaml
  plat auth reconcile -f access/ -R --dry-run=client
  plat auth reconcile -f roles.yaml --remove-extra-permissions --remove-extra-subjects

Exit codes:
  0   all roles and bindings are reconciled
  1   some failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`reconcile takes no arguments, but got ${JSON.stringify(args[0])}`);
    if (!namesManifests(options)) throw new FlagError('files missing. For example: plat auth reconcile -f roles.yaml');
    return withServer(options, io, async (work) => {
      const results = new Results(io, options);
      const { manifests, broken } = await findManifests(options, io);
      work.leaveOut(broken);
      for (const manifest of manifests) {
        try {
          await reconcileOne(work, manifest, options, results);
        } catch (error) {
          results.failed(manifest.source, error);
        }
      }
      return results.end();
    });
  },
});

async function reconcileOne(work: Work, manifest: Manifest, options: Options, results: Results): Promise<void> {
  const { kind, apiVersion } = manifest.object;
  const { group, version } = splitApiVersion(apiVersion);
  if (!isAccessGroup(group) || !(isRole(kind) || isBinding(kind))) return;
  if (version !== VERSION) {
    const supported = `only ${group}/${VERSION} is supported`;
    throw withStockText(new Error(`${supported}, not ${apiVersion}`), `error: ${supported}: not *${version}.${kind}`);
  }
  const resource = await work.resourceOf(manifest);
  const ref = refOf(manifest, resource, work, options.namespace);
  const existing = await find<AccessObject>(work, ref);
  const manifestObject = manifest.object as unknown as AccessObject;
  const result: Reconciled<AccessObject> = isRole(kind)
    ? reconciledRole(existing as RoleObject | undefined, manifestObject as RoleObject, options.removeExtraPermissions)
    : reconciledBinding(existing as BindingObject | undefined, manifestObject as BindingObject, options.removeExtraSubjects);
  const isProtected = anyIdentityAnnotation(existing?.metadata.annotations ?? {}, 'autoupdate', 'rbac.authorization') === 'false';
  const object = isProtected ? (existing as ApiItem) : await write(work, ref, existing, result, options);
  results.done(ref, 'reconciled', object);
  if (result.action === 'none') return;
  const caveat = isProtected ? ', but object opted out (autoupdate: false)' : '';
  work.io.err(`\treconciliation required ${result.action}${caveat}\n`);
  for (const { title, lines } of result.report) {
    work.io.err(`\t${title}:\n`);
    for (const line of lines) work.io.err(`\t\t${printable(line)}\n`);
  }
}

async function find<T>(work: Work, ref: ObjectRef): Promise<T | undefined> {
  return work.get<T>(ref).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  });
}

/** Answers the object as the server has it now. */
async function write(
  work: Work,
  ref: ObjectRef,
  existing: AccessObject | undefined,
  { action, object }: Reconciled<AccessObject>,
  { dryRun }: Options,
): Promise<ApiItem> {
  if (action === 'none' || dryRun === 'client') return object as ApiItem;
  const query = { dryRun: dryRun === 'server' ? 'All' : undefined };
  if (action === 'update') return (await work.send(ref, { method: 'PUT', body: object, query })).object;
  if (action === 'recreate') {
    const { uid } = existing?.metadata ?? {};
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, ...(dryRun === 'server' && { dryRun: ['All'] }) };
    await work.send(ref, { method: 'DELETE', body, query });
    // The old one is still there after a dry run, so that the new one cannot be created.
    if (dryRun === 'server') return object as ApiItem;
  } else if (ref.namespace !== undefined && dryRun === 'none') await ensureNamespace(work, ref.namespace);
  return (await work.sendTo(ref.resource, ref.namespace, { method: 'POST', body: object, query })).object;
}

async function ensureNamespace(work: Work, name: string): Promise<void> {
  const resource = await work.discovery.find('namespaces');
  if ((await find(work, { resource, namespace: undefined, name })) !== undefined) return;
  await work
    .sendTo(resource, undefined, { method: 'POST', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
    });
}
