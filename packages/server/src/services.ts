/** The dependencies of the request handlers: one value, made by the composition root. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import type { Identity } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import type { RefusalLog } from './auth/explain/refusal-log.ts';
import type { Authenticator, Authorizer } from './auth/types.ts';
import type { Context } from './context.ts';
import type { Resource } from './registry/catalog.ts';
import type { RegistryDeps, WriteContext } from './registry/context.ts';
import type { Negotiator } from './request/negotiate.ts';
import type { KeptLists } from './response/list-cache.ts';
import type { SlowRequests } from './slow-requests.ts';
import type { Watches } from './watch/watches.ts';

/** Operations that are not reads or writes of an object: evictions, bindings, tokens, reviews, tunnels. */
export interface ActionRequest {
  readonly ctx: Context;
  readonly write: WriteContext;
  /** The decoded body of a POST, if the action has one. */
  readonly body: ApiObject | undefined;
}
interface ActionAnswer {
  readonly status: number;
  readonly object: ApiObject;
  readonly schema: MessageType;
}
/** Undefined: the handler has responded (or taken the connection over) itself. */
export type Action = (request: ActionRequest) => Promise<ActionAnswer | undefined>;

/** A resource whose objects are computed on request. `get` throws for an unknown name. */
export interface Computed {
  get(name: string): Promise<ApiObject>;
  list(): Promise<readonly ApiObject[]>;
}

interface Limits {
  /** Timeout of requests that are not long-running. */
  readonly requestTimeoutMs: number;
  /** Minimum duration of a watch without a timeout, in seconds; it ends after up to twice that. */
  readonly minRequestTimeoutSeconds: number;
  /** Maximum bytes that are buffered for a slow watcher. */
  readonly watchBufferBytes: number;
}

export interface Services {
  readonly identity: Identity;
  readonly registry: RegistryDeps;
  readonly negotiator: Negotiator;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Requests that it refused lately. */
  readonly refusals: RefusalLog;
  readonly slowRequests: SlowRequests;
  /** `core/pods/eviction` or `authorization/subjectaccessreviews` → handler, in base group names. */
  readonly actions: ReadonlyMap<string, Action>;
  /** `core/componentstatuses` → its computed resource, in base group names. */
  readonly computed?: ReadonlyMap<string, Computed>;
  readonly limits: Limits;
  readonly clock: Clock;
  /** The counter of the watch events of a resource. */
  readonly watchEvents: (resource: Resource) => { inc(): void };
  readonly log: { error(message: string, details?: object): void; info(message: string, details?: object): void };
  readonly watches: Watches;
  readonly keptLists: KeptLists;
  /** Random number from 0 to below 1, for spreading timeouts. */
  readonly spread: () => number;
}
