/** `/api`, `/apis`, `/apis/<group>`, `/api/v1` and `/apis/<group>/<version>`: what the server has. */

import { type APIGroup, APIGroupList, APIGroup as APIGroupSchema, APIResourceList, APIVersions } from '@plat-dev/kinds/meta-kinds';
import { pathNotFound } from '@plat-dev/meta/errors';
import { otherIdentityHint } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { ListedGroup } from '../extension/aggregation/order.ts';
import { representObject } from '../response/represent.ts';
import { pageNotFound, prettyWanted, send } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { aggregatedDiscovery, type DiscoverySources } from './aggregated-discovery.ts';
import { type Endpoint, noSuchMethod } from './endpoint.ts';
import type { Groups, ServedVersion } from './groups.ts';
import { entriesOf } from './resource-entries.ts';

interface Document {
  readonly schema: MessageType;
  readonly object: object;
}

export interface DiscoveryOptions extends DiscoverySources {
  /** `host:port` under which clients reach the server. */
  readonly address: () => string;
}

/** Answers any path at or below `/api` and `/apis` that is not for a resource. */
export function discovery(services: Services, groups: () => Groups, options: DiscoveryOptions): Endpoint {
  const offer = { protobuf: true, transforms: [] };
  /** Documents and their bytes for the present groups. */
  let documents = { groups: undefined as Groups | undefined, listed: undefined as unknown, bytes: new Map<string, Buffer>() };

  const show = async (ctx: Context, id: string, document: () => Document): Promise<void> => {
    const representation = services.negotiator.negotiate(ctx.header('accept'), offer);
    const pretty = representation.media === 'json' && (representation.pretty || prettyWanted(ctx));
    const current = groups();
    const listedGroups = options.listed();
    if (documents.groups !== current || documents.listed !== listedGroups)
      documents = { groups: current, listed: listedGroups, bytes: new Map() };
    const { bytes } = documents;
    const key = `${id} ${representation.media}${pretty}`;
    let body = bytes.get(key);
    if (body === undefined) {
      const { schema, object } = document();
      body = await representObject(schema, object as never, representation, pretty);
      bytes.set(key, body);
    }
    send(ctx, 200, representation.type, body);
  };

  const aggregated = aggregatedDiscovery(services, groups, options);

  return async (ctx) => {
    const path = ctx.path.length > 1 && ctx.path.endsWith('/') ? ctx.path.slice(0, -1) : ctx.path;
    const parts = path.split('/').slice(1);
    if (parts.length === 1) {
      const answer = aggregated(ctx, path);
      if (answer !== undefined) return answer;
    }
    if (parts[0] === 'api') return showCore(ctx, parts);
    // The list of groups and the groups themselves are read with any method.
    if (parts.length === 1) return show(ctx, '/apis', () => ({ schema: APIGroupList, object: groupList(options.listed()) }));
    if (parts.length === 2) return showGroup(ctx, path, parts[1] as string);
    const [, name = '', requestedVersion = ''] = parts;
    const group = groups().byName.get(name);
    const version = group?.versions.find((v) => v.version === requestedVersion);
    if (version !== undefined && name !== '' && parts.length === 3) return showVersion(ctx, version);
    const why = parts.length === 3 ? services.registry.catalog.whyVersionNotServed(name, requestedVersion) : undefined;
    if (why !== undefined) throw pathNotFound(why);
    if (group === undefined || name === '') return noSuchGroup(ctx, name);
    if (!group.builtin) return pageNotFound(ctx);
    throw pathNotFound();
  };

  function noSuchGroup(ctx: Context, name: string): void {
    const hint = otherIdentityHint(services.identity, name, (own) => groups().byName.get(own)?.builtin === true);
    const why = hint ?? services.registry.catalog.whyGroupNotServed(name);
    if (why !== undefined) throw pathNotFound(why);
    pageNotFound(ctx);
  }

  async function showGroup(ctx: Context, path: string, name: string): Promise<void> {
    const group = options.listed().find((one) => one.name === name);
    if (group === undefined) return noSuchGroup(ctx, name);
    return show(ctx, path, () => ({ schema: APIGroupSchema, object: topLevel(groupOf(group), 'APIGroup') }));
  }

  function showCore(ctx: Context, parts: readonly string[]): Promise<void> {
    if (parts.length === 1) {
      if (ctx.method !== 'GET') throw noSuchMethod();
      return show(ctx, '/api', () => ({ schema: APIVersions, object: coreVersions(groups(), options.address()) }));
    }
    const version = groups()
      .byName.get('')
      ?.versions.find((v) => v.version === parts[1]);
    if (version === undefined || parts.length > 2) throw pathNotFound();
    return showVersion(ctx, version);
  }

  function showVersion(ctx: Context, version: ServedVersion): Promise<void> {
    if (ctx.method !== 'GET') throw noSuchMethod();
    return show(ctx, version.path, () => ({ schema: APIResourceList, object: resourceList(services, version) }));
  }
}

// ---- the documents ---------------------------------------------------------------------------------------------

const topLevel = <T extends object>(object: T, kind: string): T & { kind: string; apiVersion: string } => ({
  kind,
  apiVersion: 'v1',
  ...object,
});

function coreVersions(groups: Groups, serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: (groups.byName.get('')?.versions ?? []).map((v) => v.version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

function groupOf(group: ListedGroup): APIGroup {
  const versions = group.versions.map((version) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] ?? { groupVersion: '', version: '' } };
}

function groupList(groups: readonly ListedGroup[]): object {
  return topLevel({ groups: groups.map(groupOf) }, 'APIGroupList');
}

/** The core group's document bears no version of its own, in the stock server and hence here. */
function resourceList(services: Pick<Services, 'registry'>, version: ServedVersion): object {
  const resources = version.resources.flatMap((resource) => entriesOf(services, resource));
  const head = version.group === '' ? { kind: 'APIResourceList' } : { kind: 'APIResourceList', apiVersion: 'v1' };
  return { ...head, groupVersion: version.apiVersion, resources };
}
