/** Definitions of all types that the paths speak of: made from the schema for built-in kinds, from their author's words for custom ones. */

import { ObjectHistory } from '@plat-dev/kinds/explain/schema/v1alpha1';
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import type { ActionSubresource, ViewSubresource } from '@plat-dev/kinds/kind';
import { listSchemaIn } from '@plat-dev/kinds/lists';
import { ListMeta, ObjectMeta } from '@plat-dev/kinds/meta';
import { APIGroup, APIGroupList, APIResourceList, APIVersions, DeleteOptions, Status, WatchEvent } from '@plat-dev/kinds/meta-kinds';
import { setOwn } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import { type Identity, kindExtensionPrefixes } from '@plat-dev/meta/identity';
import { type OpenApiOptions, openApiV2Definitions, openApiV3Schemas, type Schemas } from '@plat-dev/schema/openapi';
import { schemaIn } from '@plat-dev/schema/releases';
import { type MessageType, message, opt, req, string } from '@plat-dev/schema/types';
import type { Resource } from '../../registry/catalog.ts';
import type { Groups } from '../groups.ts';
import { customDefinitions } from './custom.ts';
import type { Names } from './definition-names.ts';
import type { Describe, GroupVersionKind } from './model.ts';

const versionFields = ['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'];
/** Which release the server stands in for, and which it goes back to. */
const emulationFields = ['emulationMajor', 'emulationMinor', 'minCompatibilityMajor', 'minCompatibilityMinor'];
/** What `/version` answers. */
const VersionInfo = message('version.Info', {
  ...Object.fromEntries(versionFields.map((name, i) => [name, req(i + 1, string)])),
  ...Object.fromEntries(emulationFields.map((name, i) => [name, opt(i + 1 + versionFields.length, string, { since: '1.33' })])),
});
/** A patch is a list or an object, according to its media type. */
const Patch = message('meta.v1.Patch', {});

/** Types that the paths of every resource speak of. */
const common: readonly MessageType[] = [DeleteOptions, Status, WatchEvent, Patch, APIResourceList];
export const discoveryTypes = { api: [APIVersions], apis: [APIGroupList], group: [APIGroup], version: [VersionInfo] } as const;

interface DefinitionsOptions {
  readonly identity: Identity;
  readonly names: Names;
  readonly describe: Describe;
  /** Show the values that fields of built-in kinds may have. */
  readonly enums: boolean;
  /** Of the API. */
  readonly release: ApiRelease;
}

export class Definitions {
  private readonly identity: Identity;
  private readonly names: Names;
  private readonly describe: Describe;
  private readonly enums: boolean;
  private readonly release: ApiRelease;

  constructor({ identity, names, describe, enums, release }: DefinitionsOptions) {
    this.identity = identity;
    this.names = names;
    this.describe = describe;
    this.enums = enums;
    this.release = release;
  }

  *v2(resources: readonly Resource[], groups: Groups): Work<Schemas> {
    const types = [...this.typesOf(resources), ...this.inRelease(Object.values(discoveryTypes).flat())];
    return this.finish(yield* openApiV2Definitions(types, this.options(resources, groups)), resources, 2);
  }
  *v3(resources: readonly Resource[], groups: Groups): Work<Schemas> {
    return this.finish(yield* openApiV3Schemas(this.typesOf(resources), this.options(resources, groups)), resources, 3);
  }
  /** Definitions of one custom kind alone; those to which they refer are elsewhere. */
  v2Custom(resource: Resource): Schemas {
    return this.finish({}, [resource], 2);
  }
  /** Definitions of discovery documents, which belong to no resource. */
  v3Types(types: readonly MessageType[], groups: Groups): Schemas {
    return this.finish(atOnce(openApiV3Schemas(this.inRelease(types), this.options([], groups))), [], 3);
  }

  private inRelease(types: readonly MessageType[]): MessageType[] {
    return types.map((type) => schemaIn(this.release, type));
  }
  private typesOf(resources: readonly Resource[]): MessageType[] {
    const { release } = this;
    const types = new Set<MessageType>(this.inRelease(common));
    for (const { kind, schema, custom } of resources) {
      if (kind.group === explainGroup) types.add(ObjectHistory);
      if (custom) types.add(schemaIn(release, ObjectMeta)).add(schemaIn(release, ListMeta));
      else {
        types.add(schema);
        if (kind.verbs.includes('list')) types.add(listSchemaIn(release, schema));
      }
      for (const sub of Object.values(kind.subresources)) {
        if (sub.type !== 'object' && sub.schema !== undefined) types.add(sub.schema);
      }
    }
    return [...types];
  }

  private options(resources: readonly Resource[], groups: Groups): OpenApiOptions {
    const kinds = this.kindsOf(resources, groups);
    return {
      name: (type) => this.names.of(type),
      extensionPrefix: this.identity.schemaExtensionPrefix,
      kinds: (type) => kinds.get(type),
      describe: this.describe,
      enums: this.enums,
    };
  }

  private kindsOf(resources: readonly Resource[], groups: Groups): Map<string, GroupVersionKind[]> {
    const kinds = new Map<string, GroupVersionKind[]>();
    for (const { kind, schema, group, version, custom } of resources) {
      if (kind.group === explainGroup) kinds.set(ObjectHistory.name, [{ group, kind: 'ObjectHistory', version }]);
      if (!custom) {
        kinds.set(schema.name, [{ group, kind: kind.kind, version }]);
        kinds.set(`${schema.name}List`, [{ group, kind: kind.listKind, version }]);
      }
      for (const sub of Object.values(kind.subresources)) {
        if (sub.type === 'object' || sub.schema === undefined || kinds.has(sub.schema.name)) continue;
        const of = (sub as ViewSubresource | ActionSubresource).kind;
        kinds.set(sub.schema.name, [{ group: this.names.groupName(of.group), kind: of.kind, version: of.version }]);
      }
    }
    // These belong to every group version.
    for (const name of ['DeleteOptions', 'WatchEvent']) {
      const all = groups.all.flatMap((g) => (g.builtin ? g.versions.map(({ group, version }) => ({ group, kind: name, version })) : []));
      kinds.set(`meta.v1.${name}`, all);
    }
    for (const name of ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'])
      kinds.set(`meta.v1.${name}`, [{ group: '', kind: name, version: 'v1' }]);
    return kinds;
  }

  /** Adds custom kinds, and writes the kinds of a definition under every prefix that clients look for. */
  private finish(schemas: Schemas, resources: readonly Resource[], release: 2 | 3): Schemas {
    const options = { identity: this.identity, names: this.names, release, describe: this.describe };
    for (const resource of resources)
      if (resource.custom) for (const [name, schema] of Object.entries(customDefinitions(options, resource))) setOwn(schemas, name, schema);
    const [first, ...others] = kindExtensionPrefixes(this.identity).map((prefix) => `${prefix}group-version-kind` as const);
    for (const schema of Object.values(schemas)) {
      const kinds = schema[first as `${string}group-version-kind`];
      if (kinds !== undefined) for (const other of others) schema[other] = kinds;
    }
    return schemas;
  }
}
