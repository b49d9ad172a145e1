/** The common parts of all connections to pods, services and nodes. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { notFound } from '@plat-dev/meta/errors';
import type { MessageType } from '@plat-dev/schema/types';
import type { RegistryDeps } from '../registry/context.ts';
import { waitForVersion } from '../registry/list.ts';
import type { ActionRequest } from '../services.ts';
import type { NodeAgents } from './agents.ts';
import type { AnswerLimits } from './dial.ts';
import type { OpenConnections } from './forward.ts';
import type { Guard } from './guard.ts';

export interface ConnectDeps {
  readonly registry: RegistryDeps;
  readonly live: LiveSource;
  readonly agents: NodeAgents;
  /** Headers with credentials or identity of the caller: they are not forwarded. */
  readonly isCredential: (name: string) => boolean;
  /** The canonical form of an address that clients may connect to; undefined for others. */
  readonly allowed: (address: string) => string | undefined;
  /** Checks every connection to pods and services against these when it is made. */
  readonly guard: Guard;
  readonly randomBelow: (limit: number) => number;
  readonly open: OpenConnections;
  readonly limits: AnswerLimits;
}

/** The current object that a connection leads to. */
export async function current<T extends ApiObject>(deps: ConnectDeps, resource: string, namespace: string, name: string): Promise<T> {
  await waitForVersion(deps.registry, '');
  const live = deps.live<T>('', resource);
  await live.look(namespace, name);
  const object = live.get(namespace, name);
  if (object === undefined) throw notFound({ group: '', resource }, name);
  return object;
}

/** Runs admission for a connection; returns the options, which a plug-in may have changed. */
export async function admitConnection<T extends object>(
  deps: ConnectDeps,
  { write }: ActionRequest,
  kind: string,
  schema: MessageType,
  options: T,
): Promise<T> {
  const { admission } = deps.registry;
  const request = {
    operation: 'CONNECT' as const,
    served: write.resource,
    subresource: write.subresource,
    namespace: write.namespace,
    name: write.name,
    pathName: write.name,
    object: { kind, apiVersion: 'v1', ...options } as unknown as ApiObject | undefined,
    oldObject: undefined,
    objectKind: { group: '', version: 'v1', kind, schema },
    options: {},
    user: write.user,
    dryRun: false,
    sideWrites: [],
    explanation: write.explanation,
    warn: write.warn,
    annotate: write.annotate,
  };
  await admission.admit(request);
  await admission.validate(request);
  return request.object as unknown as T;
}
