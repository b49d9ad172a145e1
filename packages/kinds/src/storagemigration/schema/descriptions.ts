import type { Descriptions } from '../../description-texts.ts';

export const storagemigration: Descriptions = {
  'storagemigration.StorageVersionMigration': {
    $: 'Stores all objects of a resource anew, in the version that is stored today.',
    spec: 'The resource. It cannot be changed.',
    status: 'How far the migration is.',
  },
  'storagemigration.StorageVersionMigrationSpec': { $: 'What is stored anew.', resource: 'The resource whose objects are stored anew.' },
  'storagemigration.StorageVersionMigrationStatus': {
    $: 'How far a migration is.',
    conditions: 'Running, Succeeded or Failed.',
    resourceVersion: 'Objects that were written after this version are in the new version already.',
  },
};
