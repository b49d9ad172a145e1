/** The authorizers by the names of their modes; they run in the order of the modes. */

import type { LiveSource } from '@plat-dev/kinds/live-view';
import { own } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { ReleaseChoice } from '../bootstrap/notation.ts';
import { type Authorizer, noChanges, noOpinion, unionAuthorizer, wellKnown } from '../types.ts';
import { type EscalationCheck, escalationCheck } from './escalation.ts';
import { hasSlices, NodeAuthorizer } from './node.ts';
import { RoleBasedAccess } from './rbac.ts';
import { alwaysAllow, alwaysDeny, noRules, superuser } from './simple.ts';

export const authorizationModes = ['Node', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;

/** One of a chain of authorizers. `webhook`: where `type` is Webhook. */
export interface AuthorizerEntry {
  readonly type: string;
  readonly webhook?: Authorizer | undefined;
}

export interface AuthorizationOptions {
  readonly chain: readonly AuthorizerEntry[];
  readonly live: LiveSource;
  readonly identity: Identity;
  readonly choice: ReleaseChoice;
}

export interface Authorization {
  readonly authorizer: Authorizer;
  /** Those that `authorizer` asks, in their order; the same list after they were replaced. */
  readonly authorizers: readonly Authorizer[];
  /** From now on these are asked. */
  replace(chain: readonly AuthorizerEntry[]): void;
  /** Roles and bindings are guarded against escalation in every mode. */
  readonly escalation: EscalationCheck;
}

export function authorization({ chain, live, identity, choice }: AuthorizationOptions): Authorization {
  const access = new RoleBasedAccess(live, identity);
  const node = whenNeeded(live, choice, () => new NodeAuthorizer(live, identity, choice));
  const builtin: Readonly<Record<string, Authorizer>> = { Node: node, RBAC: access, AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny };
  const made = ({ type, webhook }: AuthorizerEntry): Authorizer => {
    if (type === 'Webhook' && webhook === undefined) throw new Error('authorization mode Webhook needs authorization-webhook-config-file');
    const authorizer = type === 'Webhook' ? webhook : own(builtin, type);
    if (authorizer === undefined) throw new Error(`authorization mode ${type} is not one of ${authorizationModes.join(', ')}`);
    return authorizer;
  };
  const authorizers: Authorizer[] = [superuser, ...chain.map(made)];
  const { authorizer, replace } = replaceable(unionAuthorizer([...authorizers]));
  return {
    authorizer,
    authorizers,
    escalation: escalationCheck(identity, access, authorizer, choice.release),
    replace(next) {
      authorizers.splice(0, authorizers.length, superuser, ...next.map(made));
      replace(unionAuthorizer([...authorizers]));
    },
  };
}

/** An authorizer that another one can take the place of: answers that were kept are asked for again. */
function replaceable(first: Authorizer): { authorizer: Authorizer; replace(next: Authorizer): void } {
  let current = first;
  let replacements = 0;
  return {
    authorizer: {
      name: first.name,
      authorize: (attributes) => current.authorize(attributes),
      changes(user) {
        const counted = current.changes?.(user);
        // Counts only grow, so that the sum is another one when either is.
        return counted && (() => counted() + replacements);
      },
      rulesFor: (user, namespace) => current.rulesFor(user, namespace),
    },
    replace(next) {
      current = next;
      replacements++;
    },
  };
}

/** Resolves when everything is loaded that the node authorizer looks up; undefined if it is. */
function loading(live: LiveSource, choice: ReleaseChoice): Promise<unknown> | undefined {
  const slices = hasSlices(choice) ? [live('resource', 'resourceslices')] : [];
  const views = [live('', 'pods'), live('', 'persistentvolumes'), live('storage', 'volumeattachments'), ...slices];
  return views.every(({ pending }) => pending === undefined) ? undefined : Promise.all(views.map(({ pending }) => pending?.()));
}

/** The node authorizer watches every pod; a server without node agents does not pay for that. */
function whenNeeded(live: LiveSource, choice: ReleaseChoice, make: () => Authorizer): Authorizer {
  let nodeAuthorizer: Authorizer | undefined;
  const isNode = (groups: readonly string[]): boolean => groups.includes(wellKnown.nodes);
  const authorizer = (): Authorizer => {
    nodeAuthorizer ??= make();
    return nodeAuthorizer;
  };
  return {
    name: 'Node',
    authorize(attributes) {
      if (!isNode(attributes.user.groups)) return noOpinion;
      if (nodeAuthorizer !== undefined) return nodeAuthorizer.authorize(attributes);
      const waiting = loading(live, choice);
      return waiting === undefined ? authorizer().authorize(attributes) : waiting.then(() => authorizer().authorize(attributes));
    },
    // What nodes may do depends on pods, which change all the time.
    changes: (user) => (isNode(user.groups) ? undefined : noChanges),
    rulesFor: async (user, namespace) => (isNode(user.groups) ? authorizer().rulesFor(user, namespace) : noRules),
  };
}
