/**
 * Aggregated discovery: `/api` and `/apis` answer with every group, version and resource in one document, where a client asks for it:
 *
 *   Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json
 *
 * A client that has the document of an ETag is told so instead.
 */

import { createHash } from 'node:crypto';
import {
  type APIGroupDiscovery,
  APIGroupDiscoveryList,
  type APIResourceDiscovery,
  type APIVersionDiscovery,
} from '@plat-dev/kinds/api-discovery';
import type { APIResource } from '@plat-dev/kinds/meta-kinds';
import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupsOfAll } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { ListedGroup } from '../extension/aggregation/order.ts';
import type { RemoteResources, RemoteVersion } from '../extension/aggregation/remote-resources.ts';
import { type MediaForm, parseAccept } from '../request/negotiate.ts';
import { sentBefore } from '../response/entity-tag.ts';
import { representObject } from '../response/represent.ts';
import { prettyWanted, send } from '../response/respond.ts';
import type { Services } from '../services.ts';
import type { Groups } from './groups.ts';
import { entriesOf } from './resource-entries.ts';

const KIND = 'APIGroupDiscoveryList';

export interface DiscoverySources {
  /** All groups but the core one in their order, also those that other servers answer for. The same list until they change. */
  readonly listed: () => readonly ListedGroup[];
  /** What other servers say of their resources. Absent: there are none. */
  readonly remote?: Pick<RemoteResources, 'of' | 'generation'> | undefined;
}

interface Form extends MediaForm {
  /** `apidiscovery.k8s.io/v2` */
  readonly apiVersion: string;
}
interface Encoded {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** Answers with the aggregated document of `/api` or `/apis`; undefined where the client asks for the plain one. */
export function aggregatedDiscovery(
  services: Services,
  groups: () => Groups,
  { listed, remote }: DiscoverySources,
): (ctx: Context, path: string) => Promise<void> | undefined {
  const versions = servedVersions(services);
  const schema = services.registry.catalog.schema(APIGroupDiscoveryList);
  let made = { key: [] as readonly unknown[], documents: new Map<string, Promise<Encoded>>() };

  const encoded = (path: string, form: Form, pretty: boolean): Promise<Encoded> => {
    const key = [groups(), listed(), remote?.generation];
    if (key.some((part, i) => part !== made.key[i])) made = { key, documents: new Map() };
    const id = `${path} ${form.media} ${form.type} ${form.apiVersion} ${pretty}`;
    let document = made.documents.get(id);
    if (document === undefined) {
      const items = path === '/api' ? coreGroup(services, groups()) : listed().map((group) => groupOf(services, groups(), remote, group));
      document = encode(schema, form, items, pretty);
      made.documents.set(id, document);
    }
    return document;
  };

  return (ctx, path) => {
    const accept = ctx.header('accept');
    const form = versions.length === 0 || accept === undefined ? undefined : aggregatedForm(accept, services, versions);
    if (form === undefined) return undefined;
    return encoded(path, form, form.media === 'json' && prettyWanted(ctx)).then(({ bytes, etag }) => {
      const headers = ['ETag', etag, 'Vary', 'Accept'];
      if (!sentBefore(ctx, etag, headers)) send(ctx, 200, form.type, bytes, headers);
    });
  };
}

/** The first release that knows a version, and the last one that answers in it; the gate decides between alpha and GA. */
function servedVersions({ registry }: Services): readonly string[] {
  const { release } = registry.catalog;
  if (!isAtLeast(release, '1.30') && !registry.env.feature('AggregatedDiscoveryEndpoint')) return [];
  const hasBeta =
    !isAtLeast(release, '1.33') || (!isAtLeast(release, '1.35') && !registry.env.feature('AggregatedDiscoveryRemoveBetaType'));
  return [...(isAtLeast(release, '1.30') ? ['v2'] : []), ...(hasBeta ? ['v2beta1'] : [])];
}

/** The form that a client asks for, unless it likes a plain document better. */
function aggregatedForm(accept: string, { negotiator, identity }: Services, versions: readonly string[]): Form | undefined {
  const clauses = parseAccept(accept);
  const asked = clauses.find(({ parameters: { as, g = '', v = '', stream } }) => {
    return as === KIND && groupsOfAll(identity, 'apidiscovery').includes(g) && versions.includes(v) && stream === undefined;
  });
  if (asked === undefined) return undefined;
  const form = negotiator.mediaForm(asked);
  const isSecond = clauses.some((clause) => {
    return clause.quality > asked.quality && clause.parameters.as === undefined && negotiator.mediaForm(clause) !== undefined;
  });
  if (form === undefined || isSecond) return undefined;
  const { g, v } = asked.parameters;
  return { media: form.media, type: `${form.type};g=${g};v=${v};as=${KIND}`, apiVersion: joinApiVersion(g ?? '', v ?? '') };
}

async function encode(schema: MessageType, form: Form, items: readonly APIGroupDiscovery[], pretty: boolean): Promise<Encoded> {
  const object = { kind: KIND, apiVersion: form.apiVersion, metadata: {}, items };
  const representation = { ...form, pretty, transform: undefined, transformVersion: '', stream: false };
  const bytes = await representObject(schema, object as never, representation, pretty);
  return { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
}

// ---- the documents ---------------------------------------------------------------------------------------------

const coreGroup = (services: Services, groups: Groups): APIGroupDiscovery[] => [
  { metadata: {}, versions: (groups.byName.get('')?.versions ?? []).map((served) => ownVersion(services, served)) } as APIGroupDiscovery,
];

function groupOf(
  services: Services,
  groups: Groups,
  remote: DiscoverySources['remote'],
  { name, versions }: ListedGroup,
): APIGroupDiscovery {
  const served = groups.byName.get(name)?.versions ?? [];
  const shown = versions.map((version): APIVersionDiscovery => {
    const elsewhere = remote?.of(name, version);
    if (elsewhere !== undefined) return remoteVersion(version, elsewhere);
    const own = served.find((one) => one.version === version);
    return own === undefined ? { version, freshness: 'Stale' } : ownVersion(services, own);
  });
  return { metadata: { name }, versions: shown } as APIGroupDiscovery;
}

const ownVersion = (services: Services, { version, resources }: Groups['all'][number]['versions'][number]): APIVersionDiscovery => ({
  version,
  resources: resources.flatMap((resource) => {
    const entries = entriesOf(services, resource);
    // Those of custom kinds name their group and version.
    return resourcesOf(resource.custom ? entries.map((entry) => ({ group: resource.group, version, ...entry })) : entries);
  }),
  freshness: 'Current',
});

const remoteVersion = (version: string, { resources, isCurrent }: RemoteVersion): APIVersionDiscovery => ({
  version,
  ...(resources !== undefined && { resources: resourcesOf(resources) }),
  freshness: isCurrent ? 'Current' : 'Stale',
});

/** Entries of a plain document in the other form: each subresource below its resource, even where that has no entry of its own. */
function resourcesOf(entries: readonly APIResource[]): APIResourceDiscovery[] {
  const byName = new Map<string, APIResourceDiscovery>();
  const put = (name: string, namespaced: boolean, rest: Omit<APIResourceDiscovery, 'resource' | 'scope'>): APIResourceDiscovery => {
    const resource = { resource: name, scope: namespaced ? 'Namespaced' : 'Cluster', ...rest };
    byName.set(name, resource);
    return resource;
  };
  for (const entry of entries) {
    if (entry.name.includes('/')) continue;
    const { name, namespaced, singularName, verbs, shortNames, categories } = entry;
    put(name, namespaced, {
      responseKind: kindOf(entry),
      singularResource: singularName,
      verbs,
      ...(shortNames !== undefined && { shortNames }),
      ...(categories !== undefined && { categories }),
    });
  }
  for (const entry of entries) {
    const at = entry.name.indexOf('/');
    if (at < 0) continue;
    const name = entry.name.slice(0, at);
    const nothing = { responseKind: { group: '', version: '', kind: '' }, singularResource: '', verbs: [] };
    const resource = byName.get(name) ?? put(name, entry.namespaced, nothing);
    resource.subresources ??= [];
    resource.subresources.push({ subresource: entry.name.slice(at + 1), responseKind: kindOf(entry), verbs: entry.verbs });
  }
  return [...byName.values()];
}

const kindOf = ({ group = '', version = '', kind }: APIResource): APIResourceDiscovery['responseKind'] => ({ group, version, kind });
