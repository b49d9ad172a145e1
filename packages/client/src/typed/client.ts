/** A client that is typed for the built-in kinds, by name for all others. */

import { setOwn } from '@plat-dev/lib/own';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { groupName } from '@plat-dev/meta/identity';
import { Discovery } from '../discovery.ts';
import { builtIn, groups } from './built-in.ts';
import type { Entry } from './built-in-types.ts';
import { type ClientContext, type KindRef, Resource } from './resource.ts';
import type { AnyObject, BuiltInClients, NamedObject, ResourceName, TypedClient } from './types.ts';

type AnyEntry = Entry<unknown, boolean, 'all', string>;
const DEFAULT_NAMESPACE = 'default';

export function typedClient(context: ClientContext): TypedClient {
  const resource = (name: ResourceName, namespace?: string): Resource<AnyObject> =>
    new Resource(
      context,
      once(() => lookUp(context, name)),
      namespace,
    );
  /** The client for the kind and namespace of an object. */
  const home = (object: NamedObject): Resource<AnyObject> => {
    const { apiVersion, kind } = object;
    if (apiVersion === undefined || kind === undefined) throw new Error('the object has no apiVersion and kind');
    return resource({ apiVersion, kind }, object.metadata?.namespace ?? DEFAULT_NAMESPACE);
  };
  return {
    ...builtInClients(context),
    resource,
    create: async (object, options) => home(object).create(object as never, options),
    apply: async (object, options) => home(object).apply(object as never, options),
    get: async (object) => home(object).get(nameOf(object)),
    delete: async (object, options) => home(object).delete(nameOf(object), options),
    informer: (object) => home(object).informer({ fieldSelector: `metadata.name=${nameOf(object)}` }),
  } as TypedClient;
}

function builtInClients(context: ClientContext): BuiltInClients {
  const clients: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const [group, versions] of Object.entries(builtIn) as [keyof typeof groups, Record<string, Record<string, AnyEntry>>][]) {
    const ofGroup: Record<string, Record<string, unknown>> = {};
    clients[group] = ofGroup;
    for (const [version, resources] of Object.entries(versions)) {
      const ofVersion: Record<string, unknown> = {};
      setOwn(ofGroup, version, ofVersion);
      for (const [name, { kind, namespaced }] of Object.entries(resources)) {
        const ref: KindRef = {
          group: groups[group] === '' ? '' : groupName(context.identity, groups[group]),
          version,
          name,
          namespaced,
          kind,
        };
        const builtInRef = Promise.resolve(ref);
        setOwn(ofVersion, name, (namespace?: string) => new Resource(context, () => builtInRef, namespaced ? namespace : undefined));
      }
    }
  }
  return clients as unknown as BuiltInClients;
}

/** Reads discovery each time, because kinds come and go. */
async function lookUp({ client }: ClientContext, name: ResourceName): Promise<KindRef> {
  const discovery = new Discovery(client);
  if (typeof name === 'string') return discovery.find(name);
  if ('kind' in name) return discovery.forKind(name.apiVersion, name.kind);
  const { group, version } = splitApiVersion(name.apiVersion);
  return discovery.find(group === '' ? `${name.plural}.${version}` : `${name.plural}.${version}.${group}`);
}

/** Caches a successful result. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= ask().catch((error: unknown) => {
      pending = undefined;
      throw error;
    });
    return pending;
  };
}

function nameOf({ metadata }: NamedObject): string {
  if (metadata?.name === undefined || metadata.name === '') throw new Error('the object has no metadata.name');
  return metadata.name;
}
