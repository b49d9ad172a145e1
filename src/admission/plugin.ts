/** What a plug-in is made of: the server around it, and its part of the configuration file. */

import type { X509Certificate } from 'node:crypto';
import type { Attributes } from '../auth/types.ts';
import type { LiveSource } from '../kinds/live.ts';
import type { Served } from '../kinds/served.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Remote } from '../lib/outbound.ts';
import type { Identity } from '../meta/identity.ts';
import type { User } from '../meta/user.ts';
import type { JsonValue } from '../schema/types.ts';
import type { AdmissionPlugin } from './types.ts';
import type { WebhookTools } from './webhooks/tools.ts';

/** Something that a user may be allowed to do. `group` is the full group name. */
export type UserAction = Pick<Attributes, 'verb' | 'group' | 'resource'> &
  Partial<Pick<Attributes, 'version' | 'subresource' | 'namespace' | 'name'>>;

export interface PluginEnv {
  readonly identity: Identity;
  readonly live: LiveSource;
  readonly clock: Clock;
  randomBelow(limit: number): number;
  newUid(): string;
  feature(name: string): boolean;
  /** How long pods stay on a node in trouble unless they say otherwise. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** Whether the rules of access let a user do something. */
  may(user: User, action: UserAction): boolean | Promise<boolean>;
  /** A kind by its full group name, kind and version, as references to objects name it. */
  findKind(group: string, kind: string, version?: string): Served | undefined;
  /** Whether a version of a group, or one resource of it, is switched on. `group` is the full group name. */
  apiEnabled(group: string, version: string, resource?: string): boolean;
  /** Reads where a service is, and how to speak to it, from a file in the form of a client configuration. */
  remoteOf(file: string): Promise<Remote>;
  /** Whether a certificate is this server's own: it is no webhook. Absent: none is. */
  readonly isOwn?: (certificate: X509Certificate) => boolean;
  /** Makes a namespace unless there is one. */
  ensureNamespace(name: string): Promise<void>;
  readonly metrics: Metrics;
  readonly log: { warn(message: string, details?: object): void; info(message: string, details?: object): void };
  /** Called with the name of an admission webhook before it is asked; may throw in its place. */
  readonly callsWebhook?: ((name: string) => void) | undefined;
  readonly webhooks: WebhookTools;
}

/** The plug-in's own part of the configuration file. */
export interface PluginConfiguration {
  readonly value: JsonValue;
  /** Directory that relative paths within it start from. */
  readonly directory: string;
}

/** Throws an Error that says what is wrong with the configuration. */
export type MakePlugin = (env: PluginEnv, configuration: PluginConfiguration | undefined) => AdmissionPlugin | Promise<AdmissionPlugin>;

/** For `concerns`: a plug-in that looks at some built-in kinds only, named `pods` or `apps/deployments` (base groups). */
export function kinds(...names: string[]): (served: Served) => boolean {
  const wanted = new Set(names.map((name) => (name.includes('/') ? name : `/${name}`)));
  return ({ kind, custom }) => !custom && wanted.has(`${kind.group}/${kind.plural}`);
}
