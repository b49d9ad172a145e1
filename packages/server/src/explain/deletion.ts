/**
 * Why an object is not deleted. The order of causes: what nobody can get past (webhooks that cannot be called), then what the
 * object waits for, then what may refuse.
 */
import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { Wire } from '@plat-dev/kinds/wire';
import { blockingWebhooks } from './blocking-webhooks.ts';
import type { CallersView, Target } from './callers-view.ts';
import { below, type Cause, causeOf, commandOn, explained, isEnough, quoted, someNames, typeAndName } from './cause.ts';
import { evictionCauses, podDeletionCauses } from './deletion-pods.ts';
import { dependentsOf } from './dependents.ts';
import { claimProtection, cleanupFinalizer, FOREGROUND, ORPHAN, removalFlags, removerText, volumeProtection } from './finalizers.ts';
import { namespaceDeletionCauses } from './namespace-deletion.ts';
import { remainingObjects } from './remaining-objects.ts';

export interface DeletionAnswer {
  readonly deleting: boolean;
  readonly causes: readonly Cause[];
}

/** Dependents of dependents that are followed. */
const MOST_LEVELS = 6;

export async function explainDeletion(view: CallersView, target: Target): Promise<DeletionAnswer> {
  const { metadata } = target.object;
  const deleting = metadata.deletionTimestamp !== undefined;
  const webhooks = await blockingWebhooks(view, target, deleting ? ['DELETE', 'UPDATE'] : ['DELETE']);
  if (!deleting) {
    const budgets = isBuiltin(target, '', 'pods') ? await evictionCauses(view, target) : [];
    return { deleting, causes: [...webhooks.unreachable, notDeleting(target), ...budgets, ...webhooks.others] };
  }
  const waits = await deletionCauses(view, target, 0);
  const causes = [...webhooks.unreachable, ...waits, ...webhooks.others];
  return { deleting, causes: waits.length === 0 ? [...causes, nothingLeft(target)] : causes };
}

function notDeleting(target: Target): Cause {
  const message = `${typeAndName(explained(target))} is not being deleted: no request to delete it was accepted.`;
  return causeOf(target, 'NotDeleting', message, commandOn('delete', target));
}
function nothingLeft(target: Target): Cause {
  const message = 'Nothing keeps it that you may read: it should be gone soon.';
  return causeOf(target, 'NothingFound', message, commandOn('get', target, '--watch'));
}

async function deletionCauses(view: CallersView, target: Target, level: number): Promise<Cause[]> {
  const causes: Cause[] = [];
  if (isBuiltin(target, '', 'pods')) causes.push(...(await podDeletionCauses(view, target)));
  if (isBuiltin(target, '', 'namespaces')) causes.push(...(await namespaceDeletionCauses(view, target)));
  // The last one first: its removal leaves the places of the others as they are, so that all commands work in their order.
  const finalizers = new Set((target.object.metadata.finalizers ?? []).toReversed());
  for (const finalizer of finalizers) {
    if (isEnough(causes)) break;
    causes.push(...(await finalizerCauses(view, target, finalizer, level)));
  }
  return causes;
}

async function finalizerCauses(view: CallersView, target: Target, finalizer: string, level: number): Promise<Cause[]> {
  const { identity } = view;
  if (finalizer === FOREGROUND) return dependentCauses(view, target, level);
  if (finalizer === claimProtection(identity)) return claimUsers(view, target);
  if (finalizer === volumeProtection(identity)) return boundClaim(view, target);
  if (finalizer === cleanupFinalizer(identity)) return customObjects(view, target);
  return [finalizerCause(view, target, finalizer)];
}

function finalizerCause(view: CallersView, target: Target, finalizer: string): Cause {
  const message = `It has the finalizer ${finalizer}. ${removerText(view.identity, target.object, finalizer)}`;
  const command =
    finalizer === ORPHAN ? commandOn('get', target, '--watch') : commandOn('patch', target, removalFlags(target.object, finalizer));
  return causeOf(target, 'Finalizer', message, command);
}

/** Foreground deletion: dependents that block come first, and what keeps them is the cause. */
async function dependentCauses(view: CallersView, target: Target, level: number): Promise<Cause[]> {
  const object = explained(target);
  const dependents = await dependentsOf(view, target, ({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  const deeper: Cause[] = [];
  const own: Cause[] = [];
  for (const dependent of dependents) {
    if (isEnough(own)) break;
    const isDeleting = dependent.object.metadata.deletionTimestamp !== undefined;
    if (isDeleting && level < MOST_LEVELS && !isEnough(deeper))
      deeper.push(...below(object, await deletionCauses(view, dependent, level + 1)));
    const name = typeAndName(explained(dependent));
    const message = `Its dependent ${name} blocks its deletion and ${isDeleting ? 'is still there' : 'is not being deleted yet'}.`;
    own.push(...below(object, [causeOf(dependent, 'DependentBlocks', message, commandOn('why not deleted', dependent))]));
  }
  if (own.length === 0) return [finalizerCause(view, target, FOREGROUND)];
  return [...deeper, ...own];
}

async function claimUsers(view: CallersView, target: Target): Promise<Cause[]> {
  const { namespace = '', name = '' } = target.object.metadata;
  const pods = view.builtin('', 'pods');
  const { objects } = await view.list<Wire<Pod>>(pods, namespace, name);
  const users = await view.filter(
    objects,
    ({ metadata, spec }) =>
      (spec?.nodeName ?? '') !== '' &&
      (spec?.volumes ?? []).some(
        (volume) =>
          volume.persistentVolumeClaim?.claimName === name || (volume.ephemeral != null && `${metadata.name}-${volume.name}` === name),
      ),
  );
  const [first] = users;
  if (first === undefined) return [finalizerCause(view, target, claimProtection(view.identity))];
  const verb = users.length === 1 ? 'uses' : 'use';
  const message = `It is in use: ${users.length === 1 ? 'the pod' : 'the pods'} ${someNames(users)} ${verb} the claim.`;
  return [causeOf(target, 'ClaimInUse', message, commandOn('delete', { resource: pods, object: first }))];
}

async function boundClaim(view: CallersView, target: Target): Promise<Cause[]> {
  const { status, spec } = target.object as Wire<PersistentVolume>;
  const { namespace = '', name = '' } = spec?.claimRef ?? {};
  if (status?.phase !== 'Bound') return [finalizerCause(view, target, volumeProtection(view.identity))];
  const message = `It is bound to the claim ${namespace}/${name}.`;
  const command = `delete ${quoted(`persistentvolumeclaims/${name}`)} -n ${quoted(namespace)}`;
  return [causeOf(target, 'VolumeBound', message, command)];
}

/** A definition waits for the objects of its kind. */
async function customObjects(view: CallersView, target: Target): Promise<Cause[]> {
  const { spec } = target.object as Wire<CustomResourceDefinition>;
  const resource = view.resource(spec?.group ?? '', spec?.names?.plural ?? '');
  const waiting = finalizerCause(view, target, cleanupFinalizer(view.identity));
  if (resource === undefined) return [waiting];
  const { held, others } = await remainingObjects(view, resource, undefined, explained(target));
  return held.length + others.length === 0 ? [waiting] : [...held, ...others];
}

const isBuiltin = ({ resource: { kind, custom } }: Target, group: string, plural: string): boolean =>
  !custom && kind.group === group && kind.plural === plural;
