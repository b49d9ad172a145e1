import type { Descriptions } from '../../description-texts.ts';

export const resources: Descriptions = {
  'core.ResourceRequirements': {
    $: 'Amounts of compute resources.',
    limits: 'Most that may be used of each resource, such as cpu or memory.',
    requests: 'Amount of each resource that is reserved. Defaults to the limit where one is set, and must not exceed it.',
  },
  'core.VolumeResourceRequirements': {
    $: 'The size of the storage of a claim.',
    limits: 'Most storage that the volume may have.',
    requests: 'Least storage that the volume must have. It can be raised if the storage class allows expansion.',
  },
};
