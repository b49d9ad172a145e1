import type { Descriptions } from '../../description-texts.ts';

export const cluster: Descriptions = {
  'core.ComponentStatus': {
    $: 'Deprecated since v1.19: whether a component of the control plane is healthy.',
    conditions: 'Results of the health checks of the component.',
  },
  'core.ComponentCondition': {
    $: 'The result of a health check of a component.',
    type: 'What was checked; Healthy is the only type.',
    message: 'Answer of the component to the check.',
    error: 'Why the check could not be made, if it failed.',
  },
};
