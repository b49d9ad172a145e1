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

const authorizationModes = ['Node', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;

export interface AuthorizationOptions {
  readonly modes: readonly string[];
  readonly live: LiveSource;
  readonly identity: Identity;
  readonly choice: ReleaseChoice;
  /** Required if `Webhook` is among the modes. */
  readonly webhook?: Authorizer | undefined;
}

export interface Authorization {
  readonly authorizer: Authorizer;
  /** Those that `authorizer` asks, in their order. */
  readonly authorizers: readonly Authorizer[];
  /** Roles and bindings are guarded against escalation in every mode. */
  readonly escalation: EscalationCheck;
}

export function authorization({ modes, live, identity, choice, webhook }: AuthorizationOptions): Authorization {
  const access = new RoleBasedAccess(live, identity);
  const make: Readonly<Record<string, () => Authorizer>> = {
    Node: () => whenNeeded(live, choice, () => new NodeAuthorizer(live, identity, choice)),
    RBAC: () => access,
    Webhook: () => {
      if (webhook === undefined) throw new Error('authorization mode Webhook needs authorization-webhook-config-file');
      return webhook;
    },
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
  };
  const chosenAuthorizers = modes.map((mode) => {
    const maker = own(make, mode);
    if (maker === undefined) throw new Error(`authorization mode ${mode} is not one of ${authorizationModes.join(', ')}`);
    return maker();
  });
  const authorizers = [superuser, ...chosenAuthorizers];
  const authorizer = unionAuthorizer(authorizers);
  return { authorizer, authorizers, escalation: escalationCheck(identity, access, authorizer, choice.release) };
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
