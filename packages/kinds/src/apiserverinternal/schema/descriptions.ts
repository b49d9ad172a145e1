import type { Descriptions } from '../../description-texts.ts';

export const apiserverinternal: Descriptions = {
  'apiserverinternal.StorageVersion': {
    $: 'In which version each server stores the objects of one resource, and in which it can read them. The name is <group>.<resource>.',
    spec: 'It is empty: everything is in the status.',
    status: 'What the servers say.',
  },
  'apiserverinternal.StorageVersionSpec': { $: 'An empty spec.' },
  'apiserverinternal.StorageVersionStatus': {
    $: 'The storage versions that the servers report, and the common one.',
    storageVersions: 'The storage versions of each server, one entry per server.',
    commonEncodingVersion: 'The version in which all servers store. Unset where they do not agree.',
    conditions: 'Whether the servers agree.',
  },
  'apiserverinternal.ServerStorageVersion': {
    $: 'The storage versions of one server.',
    apiServerID: 'The server: the name of its lease.',
    encodingVersion: 'The version in which the server stores objects.',
    decodableVersions: 'The versions in which the server can read objects. encodingVersion is one of them.',
    servedVersions: 'Versions that the server serves. All of them are among decodableVersions.',
  },
  'apiserverinternal.StorageVersionCondition': {
    $: 'A condition of the storage versions at some point in time.',
    type: 'Type of the condition.',
    status: 'True, False or Unknown.',
    observedGeneration: 'The metadata.generation that the condition was set for.',
    lastTransitionTime: 'When the status last changed.',
    reason: 'Why the status last changed, in one word.',
    message: 'Human-readable details.',
  },
};
