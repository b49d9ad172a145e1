/** Requests to store all objects of a resource anew, in the version that is stored today. */
import { always, type Infer, list, message, object, opt, req, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';

const GroupResource = message('meta.v1.GroupResource', {
  group: req(1, string),
  resource: req(2, string),
});

const StorageVersionMigrationSpec = message('storagemigration.v1beta1.StorageVersionMigrationSpec', {
  resource: req(1, GroupResource),
});

const StorageVersionMigrationStatus = message('storagemigration.v1beta1.StorageVersionMigrationStatus', {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  resourceVersion: opt(2, string),
});

export const StorageVersionMigration = object('storagemigration.v1beta1.StorageVersionMigration', {
  metadata: always(1, ObjectMeta),
  spec: always(2, StorageVersionMigrationSpec),
  status: always(3, StorageVersionMigrationStatus),
});
export type StorageVersionMigration = Infer<typeof StorageVersionMigration>;
