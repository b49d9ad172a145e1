import type { Descriptions } from '../../description-texts.ts';

export const quota: Descriptions = {
  'core.LimitRange': {
    $: 'Bounds and defaults for the resources of pods, containers and claims in a namespace.',
    spec: 'Limits that admission enforces in the namespace.',
  },
  'core.LimitRangeSpec': {
    $: 'The bounds and defaults that apply in a namespace.',
    limits: 'Bounds and defaults, each for one type of object.',
  },
  'core.LimitRangeItem': {
    $: 'Bounds and defaults for one type of object, by resource.',
    type: 'What the limits apply to: Container, Pod (the sum of its containers) or PersistentVolumeClaim.',
    max: 'Most that may be requested or set as a limit, by resource.',
    min: 'Least that may be requested or set as a limit, by resource.',
    default: 'Limit of containers that set none, by resource. Not allowed for the type Pod.',
    defaultRequest: 'Request of containers that set none, by resource. Not allowed for the type Pod.',
    maxLimitRequestRatio: 'How many times greater than the request a limit may be, by resource.',
  },
  'core.ResourceQuota': {
    $: 'Limits how much of each resource, and how many objects, a namespace may use in all.',
    spec: 'Limits of the quota, and what counts against it.',
    status: 'Limits in force and what is used of them.',
  },
  'core.ResourceQuotaSpec': {
    $: 'The limits of a quota, and which objects count against them.',
    hard: 'Limit for each named resource, such as pods, requests.cpu, limits.memory or count/configmaps.',
    scopes: 'Only objects that match every scope count, such as BestEffort or NotTerminating. Without any, all objects count.',
    scopeSelector: 'Only objects that match these scopes count; unlike scopes, they may compare values.',
  },
  'core.ResourceQuotaStatus': {
    $: 'The limits in force and the observed use.',
    hard: 'Limits that are enforced, by resource.',
    used: 'Amount in use in the namespace, by resource.',
  },
  'core.ScopeSelector': {
    $: 'Selects objects by quota scopes; all requirements must be met.',
    matchExpressions: 'Requirements, one for each scope.',
  },
  'core.ScopedResourceSelectorRequirement': {
    $: 'A requirement on one quota scope.',
    scopeName: 'Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass or CrossNamespacePodAffinity.',
    operator: 'In, NotIn, Exists or DoesNotExist. Scopes other than PriorityClass allow only Exists.',
    values: 'Values for In and NotIn, of which there must be at least one. Must be empty for Exists and DoesNotExist.',
  },
};
