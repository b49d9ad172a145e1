/** Resource quotas and limit ranges. */
import { always, type Infer, list, map, message, object, opt, ptr, quantity, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const quotaScopes = ['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating'];
export const ScopedResourceSelectorRequirement = message('core.v1.ScopedResourceSelectorRequirement', {
  scopeName: req(1, string, {
    enum: quotaScopes,
    from: { '1.33': { enum: [...quotaScopes, 'VolumeAttributesClass'] } },
  }),
  operator: req(2, string, { enum: ['DoesNotExist', 'Exists', 'In', 'NotIn'] }),
  values: opt(3, list(string)),
});
export type ScopedResourceSelectorRequirement = Infer<typeof ScopedResourceSelectorRequirement>;

const ScopeSelector = message(
  'core.v1.ScopeSelector',
  {
    matchExpressions: opt(1, list(ScopedResourceSelectorRequirement)),
  },
  { atomic: true },
);

export const ResourceQuotaSpec = message('core.v1.ResourceQuotaSpec', {
  hard: opt(1, map(quantity)),
  scopes: opt(2, list(string), { from: { '1.30': { enum: quotaScopes }, '1.33': { enum: [...quotaScopes, 'VolumeAttributesClass'] } } }),
  scopeSelector: ptr(3, ScopeSelector),
});
export type ResourceQuotaSpec = Infer<typeof ResourceQuotaSpec>;

const ResourceQuotaStatus = message('core.v1.ResourceQuotaStatus', {
  hard: opt(1, map(quantity)),
  used: opt(2, map(quantity)),
});

export const ResourceQuota = object('core.v1.ResourceQuota', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ResourceQuotaSpec),
  status: always(3, ResourceQuotaStatus),
});
export type ResourceQuota = Infer<typeof ResourceQuota>;

export const LimitRangeItem = message('core.v1.LimitRangeItem', {
  type: req(1, string),
  max: opt(2, map(quantity)),
  min: opt(3, map(quantity)),
  default: opt(4, map(quantity)),
  defaultRequest: opt(5, map(quantity)),
  maxLimitRequestRatio: opt(6, map(quantity)),
});
export type LimitRangeItem = Infer<typeof LimitRangeItem>;

const LimitRangeSpec = message('core.v1.LimitRangeSpec', {
  limits: req(1, list(LimitRangeItem)),
});

export const LimitRange = object('core.v1.LimitRange', {
  metadata: always(1, ObjectMeta),
  spec: always(2, LimitRangeSpec),
});
export type LimitRange = Infer<typeof LimitRange>;
