/** Writes the slices of an owner. */

import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { isNotFound } from '@plat-dev/client/http';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import type { Identity } from '@plat-dev/meta/identity';
import { isTerminating } from '../runtime/manager.ts';
import { managedByLabel, serviceNameLabel } from './service.ts';
import { type EndpointGroup, planSlices, type Slice } from './slices.ts';

export interface SliceOwner {
  readonly identity: Identity;
  readonly client: Client;
  readonly slices: ResourceRef;
  /** The object that owns the slices. */
  readonly owner: ApiObject & { readonly kind: string };
  readonly serviceName: string;
  /** Value of the label `managed-by` of a slice. */
  readonly manager: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What the annotations of a slice should be, if they are reason enough to write it. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The annotations of a slice that is written, given those that it has. */
  annotate?(annotations: Readonly<Record<string, string>> | undefined): Record<string, string>;
}

export async function writeSlices(sliceOwner: SliceOwner, existing: readonly Slice[], groups: readonly EndpointGroup[]): Promise<void> {
  const { client, slices, owner } = sliceOwner;
  const namespace = owner.metadata.namespace ?? '';
  const labels = {
    ...sliceOwner.labels,
    [serviceNameLabel(sliceOwner.identity)]: sliceOwner.serviceName,
    [managedByLabel(sliceOwner.identity)]: sliceOwner.manager,
  };
  const metadataOf = ({ metadata }: Slice): Slice['metadata'] => {
    const { annotations = metadata.annotations ?? {} } = sliceOwner;
    return { ...metadata, labels, ...(!equal(metadata.annotations ?? {}, annotations) && { annotations: { ...annotations } }) };
  };
  const plan = await inSlices(planSlices(existing, groups, metadataOf), new Slices());
  const metadata = {
    generateName: `${sliceOwner.serviceName}-`,
    namespace,
    labels,
    ...(sliceOwner.annotations !== undefined && { annotations: sliceOwner.annotations }),
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
  const type = { kind: 'EndpointSlice', apiVersion: apiVersionOf(slices) };
  const annotated = <T extends { annotations?: Readonly<Record<string, string>> }>(metadata: T): T =>
    sliceOwner.annotate === undefined ? metadata : { ...metadata, annotations: sliceOwner.annotate(metadata.annotations) };
  await writeAll([
    ...plan.create.map(
      (slice) => () => client.create(slices, namespace, { ...type, metadata: annotated(metadata), ...slice }).catch(ignoreOutdated),
    ),
    ...plan.update.map((slice) => () => client.update(slices, { ...slice, ...type, metadata: annotated(slice.metadata) })),
    ...plan.remove.map((slice) => () => client.delete(slices, namespace, slice.metadata.name ?? '').catch(ignoreOutdated)),
  ]);
}

/** Writes in progress at a time: Endpoints may have ten thousand sets of ports, with a slice each. */
const WRITES_AT_ONCE = 8;

/** Sends all writes, whichever of them fail, and throws the first failure. */
async function writeAll(writes: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  const waiting = writes.values();
  const sendWaiting = async (): Promise<void> => {
    const turns = new Slices();
    for (const write of waiting) {
      if (turns.due) await turns.pause();
      await write().catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, sendWaiting));
  if (failures.length > 0) throw failures[0];
}

function ignoreOutdated(error: unknown): void {
  if (!isNotFound(error) && !isTerminating(error)) throw error;
}
