import type { Descriptions } from '../../description-texts.ts';

const attributes = {
  resourceAttributes: 'Request for a resource to check. Exactly one of this and nonResourceAttributes is set.',
  nonResourceAttributes: 'Request for another path to check. Exactly one of this and resourceAttributes is set.',
};

export const authorization: Descriptions = {
  'authorization.SubjectAccessReview': {
    $: 'Asks whether a user or group may perform an action. It is answered and not stored.',
    spec: 'User and action to check.',
    status: 'Decision of the server.',
  },
  'authorization.SubjectAccessReviewSpec': {
    $: 'A user and an action. At least one of user and groups is set.',
    ...attributes,
    user: 'Name of the user to check. Without groups, only rules for the user itself apply.',
    groups: 'Groups of the user to check.',
    extra: 'Additional information about the user, as its authenticator gives it.',
    uid: 'Identifier of the user at its authenticator.',
  },
  'authorization.SubjectAccessReviewStatus': {
    $: 'Whether an action is allowed.',
    allowed: 'Whether the action would be allowed.',
    denied: 'Whether an authorizer denied the action, so that no other is asked. Excludes allowed; false if none had an opinion.',
    reason: 'Why the action is allowed or denied, for people to read.',
    evaluationError:
      'Error that occurred during the check. The decision can be valid nevertheless, for example if one of several roles is missing.',
  },
  'authorization.LocalSubjectAccessReview': {
    $: 'Asks whether a user or group may perform an action in one namespace, so that the right to ask can be granted there alone.',
    spec: 'User and action to check. The namespace must equal that of the request.',
    status: 'Decision of the server.',
  },
  'authorization.SelfSubjectAccessReview': {
    $: 'Asks whether the present user may perform an action. It is answered and not stored.',
    spec: 'Action to check.',
    status: 'Decision of the server.',
  },
  'authorization.SelfSubjectAccessReviewSpec': { $: 'An action of the present user.', ...attributes },
  'authorization.SelfSubjectRulesReview': {
    $: 'Lists what the present user may do in a namespace. Meant for user interfaces; use an access review for decisions.',
    spec: 'Namespace to list the permissions of.',
    status: 'Permissions of the user; the server fills it in.',
  },
  'authorization.SelfSubjectRulesReviewSpec': {
    $: 'Where permissions are listed.',
    namespace: 'Namespace to evaluate the rules for. Required.',
  },
  'authorization.SubjectRulesReviewStatus': {
    $: 'What a user may do, as far as the authorizers can list it.',
    resourceRules: 'Actions on resources that are allowed. The order means nothing, and rules may repeat.',
    nonResourceRules: 'Actions on other paths that are allowed.',
    incomplete: 'Whether the lists lack permissions, because an authorizer cannot list its rules.',
    evaluationError: 'Error that occurred while the rules were collected; the lists can be incomplete then.',
  },
  'authorization.ResourceAttributes': {
    $: 'A request for a resource.',
    namespace: 'Namespace of the request. Empty for resources that are not namespaced, or for all namespaces.',
    verb: 'Verb of the request, such as get, list, create or delete. * means all.',
    group: 'API group of the resource. * means all.',
    version: 'API version of the resource. * means all.',
    resource: 'Plural name of a resource type. * means all.',
    subresource: 'Subresource of the request, such as log. Empty for the object itself.',
    name: 'Name of one object. Empty means all.',
    fieldSelector: 'Field selector of the request, as far as it can limit what the request reaches. An authorizer may ignore it.',
    labelSelector: 'Label selector of the request, as far as it can limit what the request reaches. An authorizer may ignore it.',
  },
  'authorization.FieldSelectorAttributes': {
    $: 'A field selector: either as text or as requirements. What cannot be read is ignored.',
    rawSelector: 'The selector as in a query. Excludes requirements.',
    requirements: 'The requirements, all of which objects must meet.',
  },
  'authorization.LabelSelectorAttributes': {
    $: 'A label selector: either as text or as requirements. What cannot be read is ignored.',
    rawSelector: 'The selector as in a query. Excludes requirements.',
    requirements: 'The requirements, all of which objects must meet.',
  },
  'meta.FieldSelectorRequirement': {
    $: 'A requirement on a field of objects.',
    key: 'The field that the requirement is for.',
    operator: 'In, NotIn, Exists or DoesNotExist. More may come.',
    values: 'Values for In and NotIn, at least one; empty for Exists and DoesNotExist.',
  },
  'authorization.NonResourceAttributes': {
    $: 'A request for a path that is not a resource.',
    path: 'URL path of the request, such as /healthz.',
    verb: 'HTTP verb of the request in lower case, such as get.',
  },
  'authorization.ResourceRule': {
    $: 'Actions on resources that are allowed.',
    verbs: 'Allowed verbs, such as get or list. * means all.',
    apiGroups: 'API groups of the resources. * means all.',
    resources: 'Resources that the rule covers, with subresources after a slash. * means all.',
    resourceNames: 'Names of the objects that the rule covers. Empty means all.',
  },
  'authorization.NonResourceRule': {
    $: 'Actions on paths that are not resources.',
    verbs: 'Allowed HTTP verbs in lower case. * means all.',
    nonResourceURLs: 'Paths that the rule covers; a * at the end stands for everything below. * alone means all.',
  },
};
