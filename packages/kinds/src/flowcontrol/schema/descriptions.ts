import type { Descriptions } from '../../description-texts.ts';

export const flowcontrol: Descriptions = {
  'flowcontrol.FlowSchema': {
    $: 'Assigns requests that match its rules to a priority level, and divides them into flows.',
    spec: 'The requests that match, and their priority level.',
    status: 'Whether the schema is usable.',
  },
  'flowcontrol.FlowSchemaSpec': {
    $: 'The requests of a flow schema and their priority level.',
    priorityLevelConfiguration: 'Priority level that matching requests are assigned to. If it does not exist, the schema is ignored.',
    matchingPrecedence: 'Order in which schemas are tried, from 1 to 10000: the lowest number that matches wins. Defaults to 1000.',
    distinguisherMethod: 'How matching requests are divided into flows. Without it all of them are one flow.',
    rules: 'Which requests match: those that meet at least one rule. Without rules none do.',
  },
  'flowcontrol.FlowSchemaStatus': { $: 'The observed state of a flow schema.', conditions: 'Observed conditions, such as Dangling.' },
  'flowcontrol.FlowSchemaCondition': {
    $: 'One observed aspect of the state of a flow schema.',
    type: 'Dangling: the priority level that the schema names does not exist.',
  },
  'flowcontrol.FlowDistinguisherMethod': {
    $: 'How requests of a schema are divided into flows.',
    type: 'ByUser makes a flow of each user, ByNamespace of each namespace.',
  },
  'flowcontrol.PriorityLevelConfigurationReference': {
    $: 'Names the priority level of the requests.',
    name: 'Name of the priority level that is referred to. Required.',
  },
  'flowcontrol.PolicyRulesWithSubjects': {
    $: 'Requests of some subjects. A request matches if its subject does, and at least one of the rules.',
    subjects: 'Users, groups and service accounts whose requests match. There must be at least one.',
    resourceRules: 'Requests for resources that match.',
    nonResourceRules: 'Requests for other paths that match.',
  },
  'flowcontrol.ResourcePolicyRule': {
    $: 'Requests for resources. All fields must match.',
    verbs: 'Verbs that match, at least one. * means all and must stand alone.',
    apiGroups: 'API groups that match, at least one. * means all and must stand alone.',
    resources: 'Resources that match, with subresources after a slash, at least one. * means all and must stand alone.',
    clusterScope: 'Whether requests without a namespace match. Defaults to false; then namespaces must not be empty.',
    namespaces: 'Namespaces whose requests match. * means all and must stand alone.',
  },
  'flowcontrol.NonResourcePolicyRule': {
    $: 'Requests for paths that are not resources. Both fields must match.',
    verbs: 'HTTP verbs in lower case that match, at least one. * means all and must stand alone.',
    nonResourceURLs: 'Paths that match, such as /healthz or /logs/*. * means all and must stand alone.',
  },
  'flowcontrol.Subject': {
    $: 'Whose requests match. The field that kind names is set.',
    kind: 'User, Group or ServiceAccount.',
    user: 'User whose requests match, for the kind User.',
    group: 'Group of users whose requests match, for the kind Group.',
    serviceAccount: 'Service account whose requests match, for the kind ServiceAccount.',
  },
  'flowcontrol.UserSubject': { $: 'A user by name.', name: 'User name that matches. * means all users.' },
  'flowcontrol.GroupSubject': { $: 'A group of users by name.', name: 'Group that matches. * means all groups.' },
  'flowcontrol.ServiceAccountSubject': {
    $: 'A service account by namespace and name.',
    namespace: 'Namespace of the matching service accounts.',
    name: 'Name of the matching service account. * means all of the namespace.',
  },
  'flowcontrol.PriorityLevelConfiguration': {
    $: 'A share of the capacity of the server, and what happens to requests beyond it.',
    spec: 'Share of the level, and how its requests are queued.',
    status: 'Observed state of the level.',
  },
  'flowcontrol.PriorityLevelConfigurationSpec': {
    $: 'The limits of a priority level.',
    type: 'Exempt requests are never limited; Limited ones are, by the field limited.',
    limited: 'Limits of the level. Required for Limited, not allowed for Exempt.',
    exempt: 'Shares of the exempt requests. Not allowed for Limited.',
  },
  'flowcontrol.PriorityLevelConfigurationStatus': {
    $: 'The observed state of a priority level.',
    conditions: 'Observed conditions, at most one of each type.',
  },
  'flowcontrol.PriorityLevelConfigurationCondition': { $: 'One observed aspect of the state of a priority level.' },
  'flowcontrol.LimitedPriorityLevelConfiguration': {
    $: 'How many requests of a level run at once, and what happens to the others.',
    assuredConcurrencyShares:
      'Share of the concurrency of the server: it is divided among the levels in proportion to their shares. Must be positive. Defaults to 30.',
    nominalConcurrencyShares:
      'Share of the concurrency of the server that levels divide among them in proportion; what assuredConcurrencyShares was before. Defaults to 30.',
    limitResponse: 'What happens to requests beyond the share of the level.',
    lendablePercent: 'Percentage of the share that other levels may use. It is stored and has no effect. Defaults to 0.',
    borrowingLimitPercent: 'Most that the level may use of the shares of others, in percent of its own. It is stored and has no effect.',
  },
  'flowcontrol.ExemptPriorityLevelConfiguration': {
    $: 'The shares of requests that are never limited, of which other levels may borrow. They are stored and have no effect.',
    nominalConcurrencyShares: 'Share that counts for the exempt requests. Defaults to 0, so that other levels have all of it.',
    lendablePercent: 'Percentage of the share of exempt requests that other levels may use. Defaults to 0.',
  },
  'flowcontrol.LimitResponse': {
    $: 'What happens to requests that cannot run at once.',
    type: 'Queue lets them wait until they can run or a queue is full; Reject refuses them.',
    queuing: 'Settings of the queues. Only allowed for Queue.',
  },
  'flowcontrol.QueuingConfiguration': {
    $: 'How requests wait. Each flow is dealt a hand of queues, and a request joins the shortest of them.',
    queues: 'Number of queues of the level. 1 switches off the separation of flows. Must be positive. Defaults to 64.',
    handSize: 'Number of queues that a flow may use. Must be positive and not greater than queues. Defaults to 8.',
    queueLengthLimit: 'Most requests that wait in one queue; further ones are refused. Must be positive. Defaults to 50.',
  },
};
