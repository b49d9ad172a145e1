import type { ApiObject, Kind, Strategy } from '@plat-dev/kinds/kind';
import { own } from '@plat-dev/lib/own';
import type { Target } from './context.ts';

/** Whether something, such as a finalizer, keeps a deleted object in the store. */
export const isHeld = (kind: Kind, object: ApiObject, finalizers = object.metadata.finalizers): boolean =>
  (finalizers ?? []).length > 0 || (kind.holdsDeletion?.(object as never) ?? false);

/** The rules of the object itself, or of the subresource by which it is written. */
export function strategyOf(target: Target): Strategy {
  const { kind } = target.resource;
  if (target.subresource === '') return kind.strategy ?? {};
  const sub = own(kind.subresources, target.subresource);
  return sub?.type === 'object' ? sub.strategy : (kind.strategy ?? {});
}
