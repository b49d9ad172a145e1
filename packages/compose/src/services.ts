/** Everything that the verbs and actions of a server ask. */
import { withAdmission } from '@plat-dev/server/actions/action-admission';
import { bindingActions } from '@plat-dev/server/actions/binding';
import { componentStatuses } from '@plat-dev/server/actions/component-statuses';
import type { Connections } from '@plat-dev/server/actions/connect';
import { eviction } from '@plat-dev/server/actions/eviction';
import { explanationActions } from '@plat-dev/server/actions/explanations';
import { objectExplanationActions } from '@plat-dev/server/actions/object-explanations';
import { reviewActions } from '@plat-dev/server/actions/reviews';
import { rollback } from '@plat-dev/server/actions/rollback';
import { tokenRequest, tokenRequestAdmission } from '@plat-dev/server/actions/token-request';
import { RefusalLog } from '@plat-dev/server/auth/explain/refusal-log';
import { Negotiator } from '@plat-dev/server/request/negotiate';
import { KeptLists } from '@plat-dev/server/response/list-cache';
import type { Services } from '@plat-dev/server/services';
import { SlowRequests } from '@plat-dev/server/slow-requests';
import { Watches } from '@plat-dev/server/watch/watches';
import type { Base } from './base.ts';
import type { Access } from './requests/access.ts';
import { scheduling } from './requests/scheduling.ts';
import type { State } from './state.ts';

/** Most bytes that wait for a watcher that does not read. */
const WATCH_BUFFER_BYTES = 16 * 1024 * 1024;

export function composeServices(
  { options, identity, clock, random, log }: Base,
  { engine, catalog, live }: State,
  { auth, registry }: Access,
  connections: Connections,
  watchEvents: Services['watchEvents'],
): Services {
  const keptLists = new KeptLists();
  catalog.onRemove((_, resources) => {
    for (const { collection } of resources) if (collection !== undefined) keptLists.forget(collection.prefix);
  });
  const requestedAccounts = options.features.isOn('TokenRequestServiceAccountUIDValidation') ? live('', 'serviceaccounts') : undefined;
  const refusals = new RefusalLog();
  const slowRequests = new SlowRequests(options.slowRequestThreshold, clock);
  return {
    identity,
    registry,
    negotiator: new Negotiator(identity),
    authenticator: auth.authenticator,
    authorizer: auth.authorizer,
    refusals,
    slowRequests,
    actions: new Map([
      ...reviewActions({
        identity,
        authorizer: auth.authorizer,
        tokens: auth.tokens,
        audiences: auth.audiences,
        now: () => clock.now(),
      }).map(([id, action]) => [id, withAdmission(registry, action)] as const),
      ...explanationActions({ identity, live, authorizers: auth.authorizers }, refusals, slowRequests).map(
        ([id, action]) => [id, withAdmission(registry, action)] as const,
      ),
      ...objectExplanationActions({ registry, authorizers: auth.authorizers, scheduling: scheduling(options, identity) }).map(
        ([id, action]) => [id, withAdmission(registry, action)] as const,
      ),
      [
        'core/serviceaccounts/token',
        withAdmission(registry, tokenRequest(identity, auth.issuer), tokenRequestAdmission(requestedAccounts)),
      ],
      ...connections.actions,
      ...bindingActions(registry),
      ['core/pods/eviction', eviction(registry)],
      ...['apps', 'extensions'].map((group) => [`${group}/deployments/rollback`, rollback(registry)] as const),
    ]),
    computed: new Map([['core/componentstatuses', componentStatuses(engine, options.apiRelease)]]),
    limits: {
      requestTimeoutMs: options.requestTimeout,
      minRequestTimeoutSeconds: options.minRequestTimeout,
      watchBufferBytes: WATCH_BUFFER_BYTES,
    },
    watchEvents,
    log,
    clock,
    watches: new Watches(clock),
    keptLists,
    spread: () => random.float(),
  };
}
