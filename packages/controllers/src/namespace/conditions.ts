/** The conditions of a terminating namespace: progress, and what blocks it, in the text of stock servers. */
import type { NamespaceCondition } from '@plat-dev/kinds/core/schema/namespace';
import { formatTime } from '@plat-dev/meta/time';
import type { ContentResult, HeldObject } from './content.ts';

/** Maximum objects that the condition about blocked objects names. */
const HELD_SHOWN = 10;
/** Not in stock servers: names the objects, while the stock conditions only count them. */
const HELD = 'NamespaceObjectsHeld';

/** The conditions for the content of a namespace. */
export function conditionsOf(content: ContentResult, discoveryFailures: ReadonlyMap<string, string>): NamespaceCondition[] {
  return [
    discoveryFailures.size === 0
      ? no('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered')
      : yes('NamespaceDeletionDiscoveryFailure', 'DiscoveryFailed', discoveryMessage(discoveryFailures)),
    no('NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    content.failures.length === 0
      ? no('NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization')
      : yes(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${content.failures.length} remaining: ${content.failures.join(', ')}`,
        ),
    ...remaining(content),
  ];
}

function remaining({ remains }: ContentResult): NamespaceCondition[] {
  const kinds = remains.map(({ resource, count }) => `${resource.name}.${resource.group} has ${count} resource instances`).sort();
  const waiting = new Map<string, number>();
  const heldObjects: HeldObject[] = [];
  for (const one of remains) {
    for (const [finalizer, count] of one.finalizers) waiting.set(finalizer, (waiting.get(finalizer) ?? 0) + count);
    heldObjects.push(...one.heldObjects);
  }
  const finalizers = [...waiting].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  return [
    kinds.length === 0
      ? no('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : yes('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${kinds.join(', ')}`),
    finalizers.length === 0
      ? no('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : yes(
          'NamespaceFinalizersRemaining',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
        ),
    ...(heldObjects.length === 0 ? [] : [yes(HELD, 'WaitingForFinalizers', heldMessage(heldObjects))]),
  ];
}

function heldMessage(heldObjects: readonly HeldObject[]): string {
  const objectTexts = heldObjects
    .slice(0, HELD_SHOWN)
    .map(({ resource, name, finalizers }) => `${resource}/${name} waits for ${finalizers.join(' and ')}`);
  return `${objectTexts.join('; ')}${heldObjects.length > HELD_SHOWN ? '; and others' : ''}`;
}

function discoveryMessage(failures: ReadonlyMap<string, string>): string {
  const texts = [...failures].map(([version, why]) => `${version}: ${why}`).sort();
  return `Discovery failed for some groups, ${texts.length} failing: ${texts.join(', ')}`;
}

const no = (type: string, reason: string, message: string): NamespaceCondition => ({ type, status: 'False', reason, message });
const yes = (type: string, reason: string, message: string): NamespaceCondition => ({ type, status: 'True', reason, message });

/** Merges the new conditions into the old ones. Undefined if nothing changes. */
export function mergeConditions(
  old: readonly NamespaceCondition[],
  newConditions: readonly NamespaceCondition[],
  now: number,
): NamespaceCondition[] | undefined {
  const byType = new Map(old.map((condition) => [condition.type, condition]));
  let changed = byType.has(HELD) && !newConditions.some((condition) => condition.type === HELD);
  byType.delete(changed ? HELD : '');
  for (const condition of newConditions) {
    const existing = byType.get(condition.type);
    if (existing?.status === condition.status && existing.reason === condition.reason && existing.message === condition.message) continue;
    changed = true;
    const lastTransitionTime = existing?.status === condition.status ? existing.lastTransitionTime : formatTime(now);
    byType.set(condition.type, { ...condition, lastTransitionTime: lastTransitionTime ?? formatTime(now) });
  }
  return changed ? [...byType.values()] : undefined;
}
