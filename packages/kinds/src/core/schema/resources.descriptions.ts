import type { Descriptions } from '../../description-texts.ts';

export const resources: Descriptions = {
  'core.ResourceRequirements': {
    $: 'Amounts of compute resources.',
    limits: 'Most that may be used of each resource, such as cpu or memory.',
    requests: 'Amount of each resource that is reserved. Defaults to the limit where one is set, and must not exceed it.',
    claims: 'Claims of spec.resourceClaims whose devices the container uses. Cannot be changed.',
  },
  'core.ResourceClaim': {
    $: 'A claim that a container uses.',
    name: 'Name of the entry of spec.resourceClaims.',
    request: 'Request of the claim whose devices are made available. Without it those of all requests are.',
  },
  'core.VolumeResourceRequirements': {
    $: 'Amounts of storage.',
    limits: 'Most that the volume may have, by resource.',
    requests: 'Least that the volume must have, by resource. Defaults to the limit where one is set, and must not exceed it.',
  },
};
