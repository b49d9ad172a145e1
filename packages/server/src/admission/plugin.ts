/** The dependencies of a plug-in: the server around it, and its part of the configuration file. */

import type { X509Certificate } from 'node:crypto';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Clock } from '@plat-dev/lib/clock';
import type { Metrics } from '@plat-dev/lib/metrics';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { Identity } from '@plat-dev/meta/identity';
import type { LabelSelector } from '@plat-dev/meta/labels';
import type { User } from '@plat-dev/meta/user';
import type { JsonValue } from '@plat-dev/schema/types';
import type { Attributes, Decision } from '../auth/types.ts';
import type { Remote } from '../http-client/outbound.ts';
import type { AdmissionPlugin } from './types.ts';
import type { WebhookTools } from './webhooks/tools.ts';

/** An action that a user may be authorized for. `group` is the full group name. */
export type UserAction = Pick<Attributes, 'verb' | 'group' | 'resource'> &
  Partial<Pick<Attributes, 'version' | 'subresource' | 'namespace' | 'name'>>;

export interface PluginEnv {
  readonly identity: Identity;
  readonly live: LiveSource;
  readonly clock: Clock;
  randomBelow(limit: number): number;
  newUid(): string;
  feature(name: string): boolean;
  /** Default toleration seconds of pods on unhealthy nodes. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** The decision of the authorizer; `group` of the attributes is the full name. */
  authorize(attributes: Attributes): MaybePromise<Decision>;
  /** Whether a user is authorized for an action. */
  may(user: User, action: UserAction): Promise<boolean>;
  /** A kind by its full group name, kind and version, as references to objects name it. */
  findKind(group: string, kind: string, version?: string): ServedKind | undefined;
  /** Whether a version of a group, or one resource of it, is served. `group` is the full group name. */
  apiEnabled(group: string, version: string, resource?: string): boolean;
  /** Whether some version of a built-in kind is served. `group` is the base name. */
  serves(group: string, plural: string): boolean;
  /** Reads the address and credentials of a service from a kubeconfig file. */
  remoteOf(file: string): Promise<Remote>;
  /** Whether a certificate is this server's own, which is not a webhook. Absent: none is. */
  readonly isOwn?: (certificate: X509Certificate) => boolean;
  /** Waits for the newest writes of other servers. Absent: no other server writes to the store. */
  readonly catchUp?: (() => Promise<unknown>) | undefined;
  /** Creates a namespace unless it exists. */
  ensureNamespace(name: string): Promise<void>;
  readonly metrics: Metrics;
  readonly log: { warn(message: string, details?: object): void; info(message: string, details?: object): void };
  /** Called with the name of an admission webhook before it is called; may throw in its place. */
  readonly callsWebhook?: ((name: string) => void) | undefined;
  readonly webhooks: WebhookTools;
  /** The stored objects of any kind, built-in or custom. */
  objects(served: ServedKind): StoredObjects | undefined;
}

/** Objects in hub form, which must not be changed. Undefined: there is none. */
export interface StoredObjects {
  /** Loads them, where they are not loaded yet; until then nothing can be read. */
  readonly pending?: (() => Promise<void>) | undefined;
  get(namespace: string, name: string): ApiObject | undefined;
  /** Those of a namespace, or all; in order of their keys. */
  select(namespace: string | undefined, selector: LabelSelector): readonly ApiObject[];
}

/** The plug-in's own part of the configuration file. */
export interface PluginConfiguration {
  readonly value: JsonValue;
  /** Directory for relative paths within it. */
  readonly directory: string;
}

/** Throws an Error that says what is wrong with the configuration. */
export type MakePlugin = (env: PluginEnv, configuration: PluginConfiguration | undefined) => MaybePromise<AdmissionPlugin>;

/** For `concerns`: a plug-in for some built-in kinds only, named `pods` or `apps/deployments` (base groups). */
export function kinds(...names: string[]): (served: ServedKind) => boolean {
  const kindNames = new Set(names.map((name) => (name.includes('/') ? name : `/${name}`)));
  return ({ kind, custom }) => !custom && kindNames.has(`${kind.group}/${kind.plural}`);
}
