/** Access reviews. */
import { always, bool, boxed, type Infer, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { LabelSelectorRequirement, ObjectMeta } from '../../meta.ts';

const FieldSelectorRequirement = message('meta.v1.FieldSelectorRequirement', {
  key: req(1, string),
  operator: req(2, string),
  values: opt(3, list(string)),
});

const FieldSelectorAttributes = message('authorization.v1.FieldSelectorAttributes', {
  rawSelector: opt(1, string),
  requirements: opt(2, list(FieldSelectorRequirement)),
});
export type FieldSelectorAttributes = Infer<typeof FieldSelectorAttributes>;

const LabelSelectorAttributes = message('authorization.v1.LabelSelectorAttributes', {
  rawSelector: opt(1, string),
  requirements: opt(2, list(LabelSelectorRequirement)),
});
export type LabelSelectorAttributes = Infer<typeof LabelSelectorAttributes>;

export const ResourceAttributes = message('authorization.v1.ResourceAttributes', {
  namespace: opt(1, string),
  verb: opt(2, string),
  group: opt(3, string),
  version: opt(4, string),
  resource: opt(5, string),
  subresource: opt(6, string),
  name: opt(7, string),
  fieldSelector: ptr(8, FieldSelectorAttributes, { since: '1.31', gate: 'AuthorizeWithSelectors' }),
  labelSelector: ptr(9, LabelSelectorAttributes, { since: '1.31', gate: 'AuthorizeWithSelectors' }),
});
export type ResourceAttributes = Infer<typeof ResourceAttributes>;

export const NonResourceAttributes = message('authorization.v1.NonResourceAttributes', {
  path: opt(1, string),
  verb: opt(2, string),
});
export type NonResourceAttributes = Infer<typeof NonResourceAttributes>;

export const SubjectAccessReviewSpec = message('authorization.v1.SubjectAccessReviewSpec', {
  resourceAttributes: ptr(1, ResourceAttributes),
  nonResourceAttributes: ptr(2, NonResourceAttributes),
  user: opt(3, string),
  groups: opt(4, list(string)),
  extra: opt(5, map(boxed(list(string)))),
  uid: opt(6, string),
});
export type SubjectAccessReviewSpec = Infer<typeof SubjectAccessReviewSpec>;

export const SubjectAccessReviewStatus = message('authorization.v1.SubjectAccessReviewStatus', {
  allowed: req(1, bool),
  denied: opt(4, bool),
  reason: opt(2, string),
  evaluationError: opt(3, string),
});
export type SubjectAccessReviewStatus = Infer<typeof SubjectAccessReviewStatus>;

export const LocalSubjectAccessReview = object('authorization.v1.LocalSubjectAccessReview', {
  metadata: always(1, ObjectMeta),
  spec: req(2, SubjectAccessReviewSpec),
  status: always(3, SubjectAccessReviewStatus),
});
export type LocalSubjectAccessReview = Infer<typeof LocalSubjectAccessReview>;

const NonResourceRule = message('authorization.v1.NonResourceRule', {
  verbs: req(1, list(string)),
  nonResourceURLs: opt(2, list(string)),
});

const ResourceRule = message('authorization.v1.ResourceRule', {
  verbs: req(1, list(string)),
  apiGroups: opt(2, list(string)),
  resources: opt(3, list(string)),
  resourceNames: opt(4, list(string)),
});

const SelfSubjectAccessReviewSpec = message('authorization.v1.SelfSubjectAccessReviewSpec', {
  resourceAttributes: ptr(1, ResourceAttributes),
  nonResourceAttributes: ptr(2, NonResourceAttributes),
});

export const SelfSubjectAccessReview = object('authorization.v1.SelfSubjectAccessReview', {
  metadata: always(1, ObjectMeta),
  spec: req(2, SelfSubjectAccessReviewSpec),
  status: always(3, SubjectAccessReviewStatus),
});
export type SelfSubjectAccessReview = Infer<typeof SelfSubjectAccessReview>;

const SelfSubjectRulesReviewSpec = message('authorization.v1.SelfSubjectRulesReviewSpec', {
  namespace: opt(1, string),
});

export const SubjectRulesReviewStatus = message('authorization.v1.SubjectRulesReviewStatus', {
  resourceRules: req(1, list(ResourceRule)),
  nonResourceRules: req(2, list(NonResourceRule)),
  incomplete: req(3, bool),
  evaluationError: opt(4, string),
});
export type SubjectRulesReviewStatus = Infer<typeof SubjectRulesReviewStatus>;

export const SelfSubjectRulesReview = object('authorization.v1.SelfSubjectRulesReview', {
  metadata: always(1, ObjectMeta),
  spec: req(2, SelfSubjectRulesReviewSpec),
  status: always(3, SubjectRulesReviewStatus),
});
export type SelfSubjectRulesReview = Infer<typeof SelfSubjectRulesReview>;

export const SubjectAccessReview = object('authorization.v1.SubjectAccessReview', {
  metadata: always(1, ObjectMeta),
  spec: req(2, SubjectAccessReviewSpec),
  status: always(3, SubjectAccessReviewStatus),
});
export type SubjectAccessReview = Infer<typeof SubjectAccessReview>;
