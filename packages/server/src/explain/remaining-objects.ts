/** Objects that have to be gone before another one can be: the content of a namespace, and the objects of a custom kind. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Resource } from '../registry/catalog.ts';
import type { CallersView } from './callers-view.ts';
import { below, type Cause, causeOf, commandOn, counted, type ExplainedObject, MOST_CAUSES, someNames } from './cause.ts';
import { podDeletionCauses } from './deletion-pods.ts';
import { removerText } from './finalizers.ts';

/** Pods without finalizers of which the cause is looked up. */
const MOST_PODS = 3;

/** `held`: causes of those that something keeps; `others`: how many there are besides. */
export interface RemainingCauses {
  readonly held: readonly Cause[];
  readonly others: readonly Cause[];
}

export async function remainingObjects(
  view: CallersView,
  resource: Resource,
  namespace: string | undefined,
  container: ExplainedObject,
): Promise<RemainingCauses> {
  const { objects } = await view.list(resource, namespace);
  const held: Cause[] = [];
  const free: ApiObject[] = [];
  const byFinalizer = new Map<string, ApiObject[]>();
  for (const object of objects) {
    const { finalizers = [] } = object.metadata;
    if (finalizers.length === 0) free.push(object);
    for (const finalizer of new Set(finalizers)) {
      const holders = byFinalizer.get(finalizer);
      if (holders !== undefined) holders.push(object);
      else if (byFinalizer.size <= MOST_CAUSES) byFinalizer.set(finalizer, [object]);
    }
    await view.pause();
  }
  for (const [finalizer, holders] of byFinalizer) held.push(finalizerCause(view, resource, finalizer, holders));
  const isPods = resource.kind.group === '' && resource.kind.plural === 'pods';
  if (isPods) for (const object of free.slice(0, MOST_PODS)) held.push(...(await podDeletionCauses(view, { resource, object })));
  const others = free.length === 0 ? [] : [countCause(resource, free)];
  return { held: below(container, held), others: below(container, others) };
}

function finalizerCause(view: CallersView, resource: Resource, finalizer: string, holders: readonly ApiObject[]): Cause {
  const [first] = holders as [ApiObject];
  const verb = holders.length === 1 ? 'has' : 'have';
  const message = `${counted(holders.length, resource)} (${someNames(holders)}) ${verb} the finalizer ${finalizer}. ${removerText(view.identity, first, finalizer)}`;
  const target = { resource, object: first };
  return causeOf(target, 'FinalizerOnContent', message, commandOn('why not deleted', target));
}

function countCause(resource: Resource, objects: readonly ApiObject[]): Cause {
  const [first] = objects as [ApiObject];
  const waiting = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  const some = waiting === objects.length ? '' : `${waiting} of them `;
  const state = waiting === 0 ? '' : `, ${some}not being deleted yet`;
  const verb = objects.length === 1 ? 'remains' : 'remain';
  const message = `${counted(objects.length, resource)} ${verb} (${someNames(objects)})${state}.`;
  const target = { resource, object: first };
  return causeOf(target, 'ContentRemains', message, commandOn('why not deleted', target));
}
