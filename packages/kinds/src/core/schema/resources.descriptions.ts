import type { Descriptions } from '../../description-texts.ts';

export const resources: Descriptions = {
  'core.ResourceRequirements': {
    $: 'Amounts of compute resources.',
    limits: 'Most that may be used of each resource, such as cpu or memory.',
    requests: 'Amount of each resource that is reserved. Defaults to the limit where one is set, and must not exceed it.',
  },
};
