/**
 * Attachments of volumes to nodes: a VolumeAttachment for each CSI volume that the pods of a node use, and the list of what is
 * attached in the status of the node.
 */
import { createHash } from 'node:crypto';
import { isConflict, unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { builtin, type Controller, refs } from '@plat-dev/controllers/runtime/controller';
import type { Informers } from '@plat-dev/controllers/runtime/informers';
import { claimsOf } from '@plat-dev/controllers/runtime/pods';
import type { CSIDriver, VolumeAttachment } from '@plat-dev/kinds/storage/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { NodeObject } from '../nodelife/node.ts';
import { isFinished } from '../shared/pod-state.ts';
import { podIndex, type WorkloadPod } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { type VolumeIndex, volumeIndex, volumeNames } from './volume-objects.ts';

type Attachment = Wire<VolumeAttachment>;

/** A volume that a node needs. */
interface NeededVolume {
  readonly volume: string;
  readonly driver: string;
  readonly handle: string;
}

/** The name by which all controllers know the attachment of a volume to a node. */
const attachmentName = ({ driver, handle }: NeededVolume, node: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${node}`).digest('hex')}`;

const usesClaims = (pod: WorkloadPod): boolean =>
  (pod.spec?.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim != null || ephemeral != null);

/** The CSI volumes that pods use, by the name of the volume, and whether some of their claims are not bound so far. */
function neededVolumes(pods: Iterable<WorkloadPod>, index: VolumeIndex): { needed: Map<string, NeededVolume>; waits: boolean } {
  const neededById = new Map<string, NeededVolume>();
  let waits = false;
  for (const pod of pods) {
    if (isFinished(pod) || !usesClaims(pod)) continue;
    for (const name of claimsOf(pod)) {
      const claim = index.claims.get(pod.metadata.namespace ?? '', name);
      const volume = claim?.spec?.volumeName ?? '';
      if (volume === '') waits = true;
      const csi = index.volumes.get('', volume)?.spec?.csi;
      if (csi != null) neededById.set(volume, { volume, driver: csi.driver, handle: csi.volumeHandle });
    }
  }
  return { needed: neededById, waits };
}

const attachmentsOf = (informers: Informers, identity: Identity): Informer<Attachment> =>
  informers.of<Attachment>(workloadRefs(identity).volumeAttachments);

/** A pod that came to its node before its claim was bound is looked at again after this time. */
const UNBOUND_MS = 5000;

export const attachDetach: Controller = {
  name: 'attachdetach',
  account: 'attachdetach-controller',
  start({ informers, queue, client, identity }) {
    const pods = podIndex(informers);
    const index = volumeIndex(informers, identity);
    const nodes = informers.of<NodeObject>(refs.nodes);
    const ref = workloadRefs(identity).volumeAttachments;
    const attachments = attachmentsOf(informers, identity);
    const drivers = informers.of<Wire<CSIDriver>>(builtin(identity, 'storage', 'v1', 'csidrivers', false));
    /** Attachments by node. */
    const byNode = new Map<string, Map<string, Attachment>>();
    const work = queue(
      async (key) => {
        const { name: node } = splitKey(key);
        const { needed, waits } = neededVolumes(pods.onNode(node), index);
        const present = new Map(byNode.get(node));
        for (const one of needed.values()) {
          const name = attachmentName(one, node);
          if (present.delete(name) || drivers.get('', one.driver)?.spec?.attachRequired === false) continue;
          const spec = { attacher: one.driver, nodeName: node, source: { persistentVolumeName: one.volume } };
          try {
            await attachments.whenArrived(await client.create<Attachment>(ref, '', { metadata: { name }, spec }));
          } catch (error) {
            if (!isConflict(error)) throw error;
          }
        }
        for (const [name, { metadata }] of present) {
          if (metadata.deletionTimestamp !== undefined) continue;
          await client.delete(ref, '', name).catch(unlessGone);
          await attachments.gone({ metadata });
        }
        await showAttached(node, needed);
        return waits ? UNBOUND_MS : undefined;
      },
      { after: [...index.synced, pods.informer.synced, nodes.synced, attachments.synced, drivers.synced] },
    );
    const showAttached = async (name: string, neededById: ReadonlyMap<string, NeededVolume>): Promise<void> => {
      const node = nodes.get('', name);
      if (node === undefined) return;
      const attached = [...(byNode.get(name)?.values() ?? [])].flatMap(({ spec, status }) => {
        const one = neededById.get(spec?.source?.persistentVolumeName ?? '');
        return status?.attached === true && one !== undefined ? [domainName(identity, `csi/${one.driver}^${one.handle}`)] : [];
      });
      const volumesAttached = attached.sort().map((volume) => ({ name: volume, devicePath: '' }));
      if (equal(volumesAttached, node.status?.volumesAttached ?? [])) return;
      const patched = await client.patch(refs.nodes, '', name, { status: { volumesAttached } }, 'status').catch(unlessGone);
      if (patched !== undefined) await nodes.whenArrived(patched);
    };
    const addNode = (name: string): void => {
      if (name !== '') work.add(`/${name}`);
    };
    pods.informer.onChange(({ object }) => {
      if (usesClaims(object)) addNode(object.spec?.nodeName ?? '');
    });
    attachments.onChange(({ type, object }) => {
      const { name = '' } = object.metadata;
      const node = object.spec?.nodeName ?? '';
      const attachmentsOfNode = byNode.get(node) ?? new Map<string, Attachment>();
      if (type === 'deleted') attachmentsOfNode.delete(name);
      else attachmentsOfNode.set(name, object);
      if (attachmentsOfNode.size === 0) byNode.delete(node);
      else byNode.set(node, attachmentsOfNode);
      addNode(node);
    });
  },
};

/** Attaches what is to be attached, where the driver is simulated. */
export const simulatedAttacher = ({ any }: { readonly any: boolean }): Controller => ({
  name: 'simulated-attachments',
  user: 'nodes',
  start({ informers, queue, client, identity }) {
    const attachments = attachmentsOf(informers, identity);
    const { simulated } = volumeNames(identity);
    const work = queue(
      async (key) => {
        const { name } = splitKey(key);
        const attachment = attachments.get('', name);
        if (attachment === undefined || attachment.status?.attached === true || attachment.metadata.deletionTimestamp !== undefined) return;
        if (!any && attachment.spec?.attacher !== simulated) return;
        await client.patch(workloadRefs(identity).volumeAttachments, '', name, { status: { attached: true } }, 'status').catch(unlessGone);
      },
      { after: [attachments.synced] },
    );
    attachments.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.status?.attached !== true) work.add(keyOf(object));
    });
  },
});
