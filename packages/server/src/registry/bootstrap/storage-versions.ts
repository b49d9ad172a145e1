/**
 * In which version this server stores the objects of each built-in resource, and in which it can read them, as StorageVersion
 * objects: `core.pods`, `apps.deployments`. A storage migrator reads there when all servers write a version.
 */
import type { StorageVersion } from '@plat-dev/kinds/apiserverinternal/schema/v1alpha1';
import { withServer } from '@plat-dev/kinds/apiserverinternal/storage-version-status';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { Catalog } from '../catalog.ts';
import type { SystemWriter } from '../system.ts';

const GROUP = 'internal.apiserver';
const PLURAL = 'storageversions';

interface StoredResource {
  /** The name of the StorageVersion. */
  readonly name: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
}

/** Kinds that share a store are one resource: that of the kind which owns it. */
function storedResources(catalog: Catalog): StoredResource[] {
  const kinds = [...catalog.all()].map(({ kind }) => kind).filter((kind) => !kind.custom && !kind.virtual);
  const versionsOf = ({ group, versions }: (typeof kinds)[number]): string[] =>
    Object.keys(versions).map((version) => joinApiVersion(catalog.groupName(group), version));
  return kinds
    .filter((kind) => kind.sharesStoreOf === undefined)
    .map((kind) => {
      const sharing = kinds.filter(
        (otherKind) => otherKind.sharesStoreOf?.group === kind.group && otherKind.sharesStoreOf.plural === kind.plural,
      );
      return {
        name: `${kind.group === '' ? 'core' : catalog.groupName(kind.group)}.${kind.plural}`,
        encodingVersion: joinApiVersion(catalog.groupName(kind.group), kind.hub),
        decodableVersions: [kind, ...sharing].flatMap(versionsOf),
      };
    });
}

export interface ReportOptions {
  readonly catalog: Catalog;
  readonly writer: SystemWriter;
  /** The name of this server. */
  readonly server: string;
  readonly now: () => number;
}

/** Writes nothing if the StorageVersions are up to date. */
export async function reportStorageVersions({ catalog, writer, server, now }: ReportOptions): Promise<void> {
  const report = async ({ name, encodingVersion, decodableVersions }: StoredResource): Promise<void> => {
    const ownReport = { apiServerID: server, encodingVersion, decodableVersions: [...decodableVersions] };
    await writer.ensure(GROUP, PLURAL, { metadata: { name }, spec: {}, status: {} } as never);
    await writer.change(
      GROUP,
      PLURAL,
      '',
      name,
      (object) => {
        const version = object as StorageVersion;
        version.status = withServer(version.status, ownReport, version.metadata.generation ?? 0, now());
      },
      'status',
    );
  };
  await Promise.all(storedResources(catalog).map(report));
}
