/**
 * The three loops without which a namespace is not usable: every namespace gets its default account and the root
 * certificates, and a namespace on its way out is emptied and removed. They run inside the server; the controllers of
 * later releases take them over.
 */
import type { Identity } from '../identity.ts';
import type { ApiObject } from '../kinds/kind.ts';
import type { Change, LiveSource } from '../kinds/live.ts';
import { ApiError } from '../meta/errors.ts';
import type { RegistryDeps, WriteContext } from '../registry/context.ts';
import { remove } from '../registry/remove.ts';
import { select, selectCurrent } from '../registry/select.ts';
import { type NewObject, type SystemWriter, systemUser } from '../registry/system.ts';
import type { Item } from '../storage/item.ts';

export interface LoopOptions {
  readonly identity: Identity;
  readonly registry: RegistryDeps;
  readonly live: LiveSource;
  readonly writer: SystemWriter;
  /** PEM of the authorities that clients in the cluster trust. */
  readonly rootCertificates: string;
  readonly report: (error: unknown) => void;
}

interface NamespaceObject extends ApiObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

/** How many objects are deleted at a time, and how long a namespace that is not yet empty waits. */
const WIDTH = 64;
const RETRY_MS = 1000;

/** Answers the function that ends the loops. */
export function startLoops(options: LoopOptions): () => void {
  const { live, report } = options;
  const namespaces = live<NamespaceObject>('', 'namespaces');
  const timers = new Set<NodeJS.Timeout>();
  const busy = new Set<string>();
  let ended = false;

  const tend = (name: string): void => {
    if (ended || busy.has(name)) return;
    busy.add(name);
    tendNamespace(options, namespaces.get('', name))
      .catch((error: unknown) => {
        report(error);
        return true;
      })
      .then((again) => {
        busy.delete(name);
        if (again && !ended) later(name);
      });
  };
  const later = (name: string): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      tend(name);
    }, RETRY_MS);
    timers.add(timer);
  };
  const onNamespace = (change: Change<NamespaceObject>): void => {
    if (change.type !== 'deleted') tend(change.object.metadata.name ?? '');
  };
  const onContent = (change: Change<ApiObject>): void => {
    if (change.type === 'deleted') tend(change.object.metadata.namespace ?? '');
  };
  const stops = [
    namespaces.onChange(onNamespace),
    live('', 'serviceaccounts').onChange(onContent),
    live('', 'configmaps').onChange((change) => {
      if (change.object.metadata.name === options.identity.rootCAConfigMap) onContent(change);
    }),
  ];
  for (const namespace of namespaces.list()) tend(namespace.metadata.name ?? '');
  return () => {
    ended = true;
    for (const stop of stops) stop();
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Answers whether the namespace wants another look. */
async function tendNamespace(options: LoopOptions, namespace: NamespaceObject | undefined): Promise<boolean> {
  if (namespace === undefined) return false;
  if (namespace.metadata.deletionTimestamp !== undefined) return emptyNamespace(options, namespace);
  const { writer, identity } = options;
  const name = namespace.metadata.name ?? '';
  await ensureQuietly(writer, 'serviceaccounts', { metadata: { name: 'default', namespace: name } });
  const published = {
    metadata: {
      name: identity.rootCAConfigMap,
      namespace: name,
      annotations: { [`${identity.domain}/description`]: 'Root certificates of this server, for clients within the cluster.' },
    },
    data: { 'ca.crt': options.rootCertificates },
  };
  await ensureQuietly(writer, 'configmaps', published);
  return false;
}

async function ensureQuietly(writer: SystemWriter, plural: string, object: NewObject): Promise<void> {
  try {
    await writer.ensure('', plural, object);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

async function emptyNamespace(options: LoopOptions, namespace: NamespaceObject): Promise<boolean> {
  const { registry, writer, identity } = options;
  const name = namespace.metadata.name ?? '';
  let left = 0;
  for (const { kind, resources } of registry.catalog.all()) {
    const resource = resources[0];
    if (resource === undefined || !kind.namespaced || resource.collection === undefined || kind.sharesStoreOf !== undefined) continue;
    const items = selectCurrent(resource, select(resource, name));
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < items.length) {
        const item = items[next++] as Item;
        const context: WriteContext = {
          resource,
          namespace: name,
          name: item.key.slice(name.length + 1),
          subresource: '',
          user: systemUser,
          dryRun: false,
          manager: '',
          options: {},
          warn: () => {},
          annotate: () => {},
        };
        const result = await remove(registry, context, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
          if (error instanceof ApiError && error.code === 404) return undefined;
          throw error;
        });
        if (result?.removed === false) left++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(WIDTH, items.length) }, worker));
  }
  if (left > 0) return true;
  await finishNamespace(writer, registry, identity, name);
  return false;
}

/** Takes the finalizer of the server's own from an empty namespace; where it was the last, the namespace goes. */
async function finishNamespace(writer: SystemWriter, registry: RegistryDeps, identity: Identity, name: string): Promise<void> {
  try {
    await writer.change('', 'namespaces', '', name, (object) => {
      const { spec } = object as NamespaceObject;
      if (spec?.finalizers !== undefined) spec.finalizers = spec.finalizers.filter((f) => f !== identity.word);
    });
    const resource = registry.catalog.builtin('', 'namespaces');
    const item = resource.collection?.items.get(name);
    if (item === undefined) return;
    const object = JSON.parse(item.bytes.toString()) as NamespaceObject;
    if ((object.spec?.finalizers ?? []).length > 0 || (object.metadata.finalizers ?? []).length > 0) return;
    await registry.cache.commit([{ type: 'delete', key: resource.collection?.prefix + name, expect: item.revision }], []);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
  }
}
