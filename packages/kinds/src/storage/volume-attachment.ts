/** Attachments of volumes to nodes. */
import { setOwn } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import type { ObjectMeta } from '../meta.ts';
import { status } from '../subresources.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { validateVolumeSpec } from '../validation/volumes/persistent-volume.ts';
import { validateCSIDriverName } from '../validation/volumes/volume-disks.ts';
import { VolumeAttachment, type VolumeAttachmentSource, type VolumeError } from './schema/v1.ts';

const specPath = Path.of('spec');
const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;

function validateAttachment(attachment: VolumeAttachment, errors: FieldErrors, env: KindEnv): void {
  const { spec, status } = attachment;
  if (env.since('1.36')) validateCSIDriverName(spec.attacher, specPath.child('attacher'), errors, env);
  else if (spec.attacher === '') errors.required(specPath.child('attacher'));
  validateSource(spec.source, specPath.child('source'), errors, env);
  report(errors, specPath.child('nodeName'), spec.nodeName, nameIsSubdomain(spec.nodeName));
  let size = 0;
  for (const [key, value] of Object.entries(status.attachmentMetadata ?? {})) size += Buffer.byteLength(key) + Buffer.byteLength(value);
  const at = Path.of('status');
  if (size > MAX_METADATA_BYTES) errors.tooLong(at.child('attachmentMetadata'), MAX_METADATA_BYTES);
  validateError(status.attachError, at.child('attachError'), errors);
  validateError(status.detachError, at.child('detachError'), errors);
  if (env.since('1.36')) validateVolumeName(spec.source, errors);
}

const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const onlyName = 'must specify persistentVolumeName when CSIMigration feature is disabled';
function validateSource(source: VolumeAttachmentSource, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source;
  if (inline === undefined && name === undefined) errors.required(at, env.feature('CSIMigration') ? exactlyOne : onlyName);
  else if (inline !== undefined && name !== undefined) errors.forbidden(at, exactlyOne);
  else if (inline !== undefined) validateVolumeSpec(inline, '', at.child('inlineVolumeSpec'), errors, env, { inline: true });
  else if (name === '') errors.required(at.child('persistentVolumeName'), 'must specify non empty persistentVolumeName');
}

function validateVolumeName({ persistentVolumeName: name }: VolumeAttachmentSource, errors: FieldErrors): void {
  if (name !== undefined) report(errors, specPath.child('source').child('persistentVolumeName'), name, nameIsSubdomain(name));
}

function validateError(error: VolumeError | undefined, at: Path, errors: FieldErrors): void {
  // The error names the bound of metadata, as in stock servers.
  if (Buffer.byteLength(error?.message ?? '') > MAX_MESSAGE_BYTES) errors.tooLong(at.child('message'), MAX_METADATA_BYTES);
  const { errorCode = 0 } = error ?? {};
  if (errorCode < 0) errors.invalid(at.child('errorCode'), errorCode, 'must be between 0 and 2147483647, inclusive');
}

function validate(attachment: VolumeAttachment, errors: FieldErrors, env: KindEnv): void {
  validateAttachment(attachment, errors, env);
  if (env.since('1.36')) return;
  validateCSIDriverName(attachment.spec.attacher, specPath.child('attacher'), errors, env);
  validateVolumeName(attachment.spec.source, errors);
}

function validateUpdate(attachment: VolumeAttachment, old: VolumeAttachment, errors: FieldErrors, env: KindEnv): void {
  const errorsBefore = errors.list.length;
  metadataAgain(attachment, { namespaced: false }, errors, env);
  validateAttachment(attachment, errors, env);
  // Stock servers up to 1.34 validate the attachment once more here, and clients see their errors twice.
  if (errors.list.length > errorsBefore && !env.since('1.35')) {
    metadataAgain(attachment, { namespaced: false }, errors, env);
    validateAttachment(attachment, errors, env);
  }
  immutable(attachment.spec, old.spec, specPath, errors);
}

const keptMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;
function keepMetadata(metadata: ObjectMeta, old: ObjectMeta): void {
  for (const field of keptMetadata) {
    if (old[field] === undefined) delete metadata[field];
    else setOwn<unknown>(metadata, field, old[field]);
  }
}

export const VolumeAttachmentKind = kind<VolumeAttachment>({
  group: 'storage',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  versions: { v1: { schema: VolumeAttachment } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: (attachment) => {
      attachment.status = { attached: false };
    },
    prepareForUpdate: (attachment, old) => {
      attachment.status = old.status;
    },
    validate,
    validateUpdate,
    resetFields: [['status']],
  },
  subresources: {
    status: status<VolumeAttachment>({
      // An update of the status changes no other field, neither labels nor annotations.
      prepareForUpdate: (attachment, old) => {
        attachment.spec = old.spec;
        keepMetadata(attachment.metadata, old.metadata);
      },
      validateUpdate,
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Attacher', type: 'string', format: 'name', description: 'The driver that attaches the volume.' },
    { name: 'PV', type: 'string', description: 'The volume that is to be attached.' },
    { name: 'Node', type: 'string', description: 'The node to which the volume is to be attached.' },
    { name: 'Attached', type: 'boolean', description: 'Whether the volume is attached.' },
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, env) => [
    metadata.name ?? '',
    spec.attacher,
    spec.source.persistentVolumeName ?? '',
    spec.nodeName,
    status.attached,
    ageAt(env.now(), metadata.creationTimestamp),
  ],
});
