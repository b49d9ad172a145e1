/**
 * A webhook that is asked about some requests only:
 *
 *   a condition is false                           no opinion, the webhook is not asked
 *   a condition fails, and none is false           what a failure of the webhook decides
 *   all are true                                   the webhook is asked
 */
import type { ConfigExpression } from '@plat-dev/kinds/expressions/config-expressions';
import { type Attributes, type Authorizer, type Decision, noOpinion } from '../types.ts';

interface ConditionObserver {
  /** A condition could not be evaluated. */
  failed(): void;
  /** The webhook is not asked. */
  excluded(): void;
}

/** A request as conditions see it: every text is there, though it may be empty. */
function requestOf({ user, resourceRequest, verb, path, selectors, ...resource }: Attributes, withSelectors: boolean) {
  const { namespace, group, version, resource: plural, subresource, name } = resource;
  const { fields, labels } = (withSelectors && selectors) || {};
  const selected = (requirements: NonNullable<typeof fields>) => ({ rawSelector: '', requirements });
  return {
    ...(resourceRequest
      ? {
          resourceAttributes: {
            ...{ namespace, verb, group, version, resource: plural, subresource, name },
            ...(fields && { fieldSelector: selected(fields) }),
            ...(labels && { labelSelector: selected(labels) }),
          },
        }
      : { nonResourceAttributes: { path, verb } }),
    user: user.name,
    groups: user.groups,
    extra: user.extra ?? {},
    uid: user.uid ?? '',
  };
}

export interface ConditionOptions {
  readonly conditions: readonly ConfigExpression[];
  readonly onFailure: 'none' | 'deny';
  readonly selectors: boolean;
  readonly observer: ConditionObserver;
}

export function underConditions<A extends Authorizer>(authorizer: A, { conditions, onFailure, selectors, observer }: ConditionOptions): A {
  if (conditions.length === 0) return authorizer;
  /** Undefined: the webhook is asked. */
  const decided = (attributes: Attributes): Decision | undefined => {
    const request = requestOf(attributes, selectors);
    let failure: string | undefined;
    for (const condition of conditions) {
      try {
        if (condition.evaluate({ request }) === true) continue;
        observer.excluded();
        return noOpinion;
      } catch (error) {
        observer.failed();
        failure ??= `match condition ${JSON.stringify(condition.source)} failed: ${(error as Error).message}`;
      }
    }
    return failure === undefined ? undefined : { decision: onFailure, reason: '', error: failure };
  };
  return { ...authorizer, authorize: (attributes) => decided(attributes) ?? authorizer.authorize(attributes) };
}
