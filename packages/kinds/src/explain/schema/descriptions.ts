import type { Descriptions } from '../../description-texts.ts';

const action = {
  resourceAttributes: 'Request for a resource. Exactly one of this and nonResourceAttributes is set.',
  nonResourceAttributes: 'Request for another path. Exactly one of this and resourceAttributes is set.',
};

export const explain: Descriptions = {
  'explain.AccessExplanation': {
    $: 'Asks why a request is allowed or refused. It is answered and not stored.',
    spec: 'Request to explain.',
    status: 'Explanation of the server.',
  },
  'explain.AccessExplanationSpec': {
    $: 'A request, and whose it is.',
    ...action,
    user: 'Name of the user. Without one it is you. For another user you need the right to create subjectaccessreviews.',
    groups: 'Groups of that user.',
  },
  'explain.AccessExplanationStatus': {
    $: 'Why a request is allowed or refused. Roles and bindings that you may not list are left out.',
    allowed: 'Whether the request is allowed.',
    authorizers:
      'Authorizers that were asked, in their order. The last one decided; if its decision is none, none of them allows the request.',
    allowedBy: 'Bindings that allow the request.',
    nearest: 'Bindings that nearly allow a refused request, those that lack least first.',
    proposal: 'Smallest role and binding that would allow a refused request. Absent where no role can.',
  },
  'explain.AuthorizerAnswer': {
    $: 'What one authorizer says of a request.',
    name: 'Mode of the authorizer, such as Node, RBAC or Webhook.',
    decision: 'One of allow, deny and none. After none the next authorizer is asked.',
    reason: 'Reason that the authorizer gives.',
  },
  'explain.PolicyReference': {
    $: 'A role or a binding.',
    kind: 'Role, ClusterRole, RoleBinding or ClusterRoleBinding.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object. Empty if it has none.',
  },
  'explain.BindingGrant': {
    $: 'A binding, and the rule of its role that comes nearest to a request.',
    binding: 'The binding.',
    role: 'The role that it refers to.',
    rule: 'The rule that comes nearest. Absent if the role does not exist.',
    subjects: 'Subjects of the binding: those that stand for the user, or all if none does.',
    lacks: 'What is missing: subject, role, verb, apiGroup, resource, resourceName or path. Nothing: the request is allowed.',
  },
  'explain.ProposedAccess': {
    $: 'A role and its binding, ready to be created.',
    role: 'A Role, or a ClusterRole if the request is not for a namespace.',
    binding: 'A RoleBinding or ClusterRoleBinding of that role to the user.',
  },
  'explain.RefusalSearch': {
    $: 'Asks which requests of a user were refused lately, as far as this server remembers. It is answered and not stored.',
    spec: 'Whose refusals.',
    status: 'The refusals.',
  },
  'explain.RefusalSearchSpec': {
    $: 'A user, and a request.',
    auditID: 'Audit id of the request, from the header Audit-ID of its answer. Without one all of them are listed.',
    user: 'Name of the user. Without one it is you. For another user you need the right to create subjectaccessreviews.',
  },
  'explain.RefusalSearchStatus': { $: 'Requests that were refused.', refusals: 'The last ones, newest first; at most 20.' },
  'explain.Refusal': {
    $: 'A request that no authorizer allowed.',
    auditID: 'Audit id of the request.',
    time: 'Time of the refusal.',
    resourceAttributes: 'Request for a resource.',
    nonResourceAttributes: 'Request for another path.',
  },
  'explain.SlowRequestSearch': {
    $: 'Asks which requests took long lately, as far as this server remembers. It is answered and not stored.',
    spec: 'What to search for.',
    status: 'The requests.',
  },
  'explain.SlowRequestSearchSpec': {
    $: 'Whose requests to list.',
    allUsers: 'Whether those of all users are listed rather than your own. It takes the verb list on slowrequestsearches.',
  },
  'explain.SlowRequestSearchStatus': { $: 'Requests that took long.', requests: 'The last ones, newest first; at most 100.' },
  'explain.SlowRequest': {
    $: 'A request that took long.',
    auditID: 'Audit id of the request.',
    time: 'Time when it was finished.',
    user: 'User who sent it.',
    method: 'HTTP method.',
    path: 'Path without the query.',
    code: 'HTTP status of the answer.',
    milliseconds: 'Time that it took.',
    steps: 'Where that time went.',
  },
  'explain.TimedStep': {
    $: 'A part of the time of a request.',
    name: 'One of authentication, queue, authorization, admission, webhook (within admission), store, handling (all else) and sending.',
    webhook: 'Name of the webhook. Only for those with the verb list on slowrequestsearches.',
    milliseconds: 'Time of the step.',
  },
  'explain.SubjectSearch': {
    $: 'Asks who may perform an action. It is answered and not stored.',
    spec: 'Action to search for.',
    status: 'Subjects that may perform it.',
  },
  'explain.SubjectSearchSpec': { $: 'An action.', ...action },
  'explain.SubjectSearchStatus': {
    $: 'Who may perform an action, as far as you may list roles and bindings.',
    subjects: 'Users, groups and service accounts that may perform the action, each with the binding that allows it.',
    incomplete: 'What is not in the list: bindings that you may not list, or authorizers that have no rules to search.',
  },
  'explain.AllowedSubject': {
    $: 'A subject that may perform an action.',
    subject: 'The user, group or service account.',
    binding: 'Binding that allows it. Absent for members of system:masters, who may do everything.',
    role: 'Role of the binding.',
    aggregatedFrom: 'Cluster roles from which an aggregated role has the rule.',
  },
  'explain.ObjectHistory': {
    $: 'Versions of one object, or of all objects of a kind, newest first. It is the answer to a get or list with the parameter history.',
    items: 'Versions that are kept.',
  },
  'explain.ObjectVersion': {
    $: 'One version of an object, or its deletion: what changed, when, and who changed it.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object. Empty if it has none.',
    uid: 'Uid of the object, where the version is readable.',
    resourceVersion: 'Version that the change made.',
    time: 'When the change was stored.',
    type: 'One of created, updated and deleted.',
    user: 'Name of the user who made the change. Empty where it is not known.',
    impersonator: 'Name of the user who authenticated, if they acted as another.',
    userAgent: 'User agent of the client, cut after 256 characters.',
    verb: 'Verb of the request, such as update; apply for a server-side apply.',
    subresource: 'Subresource that was written, such as status or scale.',
    fieldManager: 'Name by which the fields of the write are owned.',
    auditID: 'Audit id of the request.',
    patch:
      'Change from the version before as a JSON patch (RFC 6902), without managedFields and resourceVersion. Absent for a creation, for a deletion and where the version before is not kept.',
    object: 'Object in this version, if history=full was requested.',
    reason: 'Why the object or its change cannot be shown, if so.',
    change: 'The change in a few words, such as spec.replicas 3 → 5. It has no values of Secrets.',
    withoutValues: 'True if values are left out of the object and the patch, because history does not keep them.',
  },
};
