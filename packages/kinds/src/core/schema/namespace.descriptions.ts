import type { Descriptions } from '../../description-texts.ts';

export const namespace: Descriptions = {
  'core.Namespace': {
    $: 'A scope for names. Deleting a namespace deletes every object in it.',
    spec: 'What must happen before the namespace can be removed.',
    status: 'Whether the namespace is in use or being deleted.',
  },
  'core.NamespaceSpec': {
    $: 'The behavior of a namespace at its deletion.',
    finalizers: 'Names that must be removed, through the finalize subresource, before a deleted namespace disappears.',
  },
  'core.NamespaceStatus': {
    $: 'The observed state of a namespace.',
    phase: 'Active, or Terminating while its contents are being deleted. Nothing can be created in a terminating namespace.',
    conditions: 'Why a deletion has not finished, such as content that is left or finalizers that are pending.',
  },
  'core.NamespaceCondition': { $: 'One observed aspect of the deletion of a namespace.' },
};
