import type { Strategy } from '../kinds/kind.ts';
import type { Target } from './context.ts';

/** The rules of the object itself, or of the subresource through which it is written. */
export function strategyOf(target: Target): Strategy {
  const { kind } = target.resource;
  if (target.subresource === '') return kind.strategy ?? {};
  const sub = kind.subresources[target.subresource];
  return sub?.type === 'object' ? sub.strategy : (kind.strategy ?? {});
}
