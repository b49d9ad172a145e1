/** Attachments of volumes to nodes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { VolumeAttachment } from './schema/v1beta1.ts';

export const VolumeAttachmentKind = kind<VolumeAttachment>({
  group: 'storage',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  versions: { v1: { schema: VolumeAttachment } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Attacher', type: 'string', format: 'name', description: 'The driver that attaches the volume.' },
    { name: 'PV', type: 'string', description: 'The volume that is to be attached.' },
    { name: 'Node', type: 'string', description: 'The node to which the volume is to be attached.' },
    { name: 'Attached', type: 'boolean', description: 'Whether the volume is attached.' },
    ageColumn,
  ],
});
