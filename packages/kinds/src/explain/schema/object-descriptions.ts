import type { Descriptions } from '../../description-texts.ts';

const answer = {
  causes: 'Causes, the first one first: what it waits for, or what else may be in the way.',
  unread: 'Number of objects that are referred to and that you may not read. Nothing is said about them.',
  incomplete: 'What was not looked at: kinds that you may not list, or what is beyond the number of objects of one question.',
};

export const objectExplanations: Descriptions = {
  'explain.ObjectQuestion': {
    $: 'The object that a question is about.',
    group: 'API group of the resource. Empty for the core group.',
    resource: 'Plural name of the resource, such as pods.',
    namespace: 'Namespace of the object. Empty if it has none.',
    name: 'Name of the object.',
  },
  'explain.ExplainedObject': {
    $: 'An object that an explanation refers to.',
    group: 'API group of the object. Empty for the core group.',
    resource: 'Plural name of its resource.',
    kind: 'Kind of the object.',
    namespace: 'Namespace of the object. Empty if it has none.',
    name: 'Name of the object.',
  },
  'explain.Cause': {
    $: 'One cause of the state of an object.',
    reason: 'The cause in one word, for programs.',
    message: 'The cause in a sentence, for people.',
    object: 'Object that has the cause.',
    path: 'Objects between the one that was asked about and the one that has the cause.',
    command: 'Command to type next, without the name of the program.',
  },
  'explain.DeletionExplanation': {
    $: 'Asks why an object is not deleted. It is answered and not stored.',
    spec: 'Object to explain.',
    status: 'Explanation of the server.',
  },
  'explain.DeletionExplanationStatus': {
    $: 'Why an object is not deleted, as far as you may read what it waits for.',
    deleting: 'Whether the object is being deleted.',
    ...answer,
  },
  'explain.PendingExplanation': {
    $: 'Asks why a pod is pending. It is answered and not stored.',
    spec: 'Pod to explain, or the workload whose pods are pending.',
    status: 'Explanation of the server.',
  },
  'explain.PendingExplanationStatus': {
    $: 'Why a pod is pending, as far as you may read what it waits for.',
    pending: 'Whether the pod is pending.',
    ...answer,
    refusals: 'What nodes refuse, by reason, that of most nodes first.',
  },
  'explain.RefusedNodes': {
    $: 'A reason for which nodes cannot run a pod.',
    reason: 'The reason in the words of the scheduler.',
    count: 'Number of nodes that have it.',
    nodes: 'Names of the nodes. Absent if you may not list nodes and pods.',
  },
  'explain.ReadinessExplanation': {
    $: 'Asks why an object is not ready. It is answered and not stored.',
    spec: 'Object to explain.',
    status: 'Explanation of the server.',
  },
  'explain.ReadinessExplanationStatus': {
    $: 'Why an object is not ready, as far as you may read what it depends on.',
    ready: 'Whether nothing keeps the object from being ready that you may read.',
    ...answer,
  },
};
