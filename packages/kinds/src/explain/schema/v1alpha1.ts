/** Questions why the server decides as it does. They are answered and not stored. */
import { always, bool, type Infer, json, list, message, microTime, object, opt, ptr, raw, req, string } from '@plat-dev/schema/types';
import { NonResourceAttributes, ResourceAttributes } from '../../authorization/schema/v1.ts';
import { ListMeta, ObjectMeta } from '../../meta.ts';
import { PolicyRule, Subject } from '../../rbac/schema/v1.ts';

const AccessExplanationSpec = message('explain.v1alpha1.AccessExplanationSpec', {
  resourceAttributes: ptr(1, ResourceAttributes),
  nonResourceAttributes: ptr(2, NonResourceAttributes),
  user: opt(3, string),
  groups: opt(4, list(string)),
});

const AuthorizerAnswer = message('explain.v1alpha1.AuthorizerAnswer', {
  name: req(1, string),
  decision: req(2, string),
  reason: opt(3, string),
});

const PolicyReference = message('explain.v1alpha1.PolicyReference', {
  kind: req(1, string),
  name: req(2, string),
  namespace: opt(3, string),
});

const BindingGrant = message('explain.v1alpha1.BindingGrant', {
  binding: req(1, PolicyReference),
  role: req(2, PolicyReference),
  rule: ptr(3, PolicyRule),
  subjects: opt(4, list(Subject)),
  lacks: opt(5, list(string)),
});

const ProposedAccess = message('explain.v1alpha1.ProposedAccess', {
  role: req(1, raw),
  binding: req(2, raw),
});

const AccessExplanationStatus = message('explain.v1alpha1.AccessExplanationStatus', {
  allowed: req(1, bool),
  authorizers: opt(2, list(AuthorizerAnswer)),
  allowedBy: opt(3, list(BindingGrant)),
  nearest: opt(4, list(BindingGrant)),
  proposal: ptr(5, ProposedAccess),
});

export const AccessExplanation = object('explain.v1alpha1.AccessExplanation', {
  metadata: always(1, ObjectMeta),
  spec: req(2, AccessExplanationSpec),
  status: always(3, AccessExplanationStatus),
});
export type AccessExplanation = Infer<typeof AccessExplanation>;

const SubjectSearchSpec = message('explain.v1alpha1.SubjectSearchSpec', {
  resourceAttributes: ptr(1, ResourceAttributes),
  nonResourceAttributes: ptr(2, NonResourceAttributes),
});

const AllowedSubject = message('explain.v1alpha1.AllowedSubject', {
  subject: req(1, Subject),
  binding: ptr(2, PolicyReference),
  role: ptr(3, PolicyReference),
  aggregatedFrom: opt(4, list(string)),
});

const SubjectSearchStatus = message('explain.v1alpha1.SubjectSearchStatus', {
  subjects: opt(1, list(AllowedSubject)),
  incomplete: opt(2, list(string)),
});

export const SubjectSearch = object('explain.v1alpha1.SubjectSearch', {
  metadata: always(1, ObjectMeta),
  spec: req(2, SubjectSearchSpec),
  status: always(3, SubjectSearchStatus),
});
export type SubjectSearch = Infer<typeof SubjectSearch>;

export const ObjectVersion = message('explain.v1alpha1.ObjectVersion', {
  name: req(1, string),
  namespace: opt(2, string),
  uid: opt(3, string),
  resourceVersion: req(4, string),
  time: ptr(5, microTime),
  type: req(6, string),
  user: opt(7, string),
  impersonator: opt(8, string),
  userAgent: opt(9, string),
  verb: opt(10, string),
  subresource: opt(11, string),
  fieldManager: opt(12, string),
  auditID: opt(13, string),
  patch: ptr(14, json),
  object: ptr(15, raw),
  reason: opt(16, string),
  change: opt(17, string),
  withoutValues: opt(18, bool),
});
export type ObjectVersion = Infer<typeof ObjectVersion>;

export const ObjectHistory = object('explain.v1alpha1.ObjectHistory', {
  metadata: always(1, ListMeta),
  items: req(2, list(ObjectVersion)),
});
export type ObjectHistory = Infer<typeof ObjectHistory>;
