import type { Descriptions } from '../../description-texts.ts';

export const schedulingGroup: Descriptions = {
  'scheduling.PriorityClass': {
    $: 'A named priority for pods.',
    value:
      'Priority that pods of the class get; higher ones are scheduled first. At most 1000000000 for classes of users. Cannot be changed.',
    globalDefault: 'Whether pods without a class get this one. Only one class may be the default; otherwise they get 0.',
    description: 'When the class should be used, for people to read.',
    preemptionPolicy:
      'Whether pods of the class may evict pods of lower priority: PreemptLowerPriority or Never. Defaults to PreemptLowerPriority; cannot be changed.',
  },
};
