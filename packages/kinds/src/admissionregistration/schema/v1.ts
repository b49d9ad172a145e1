/** Registrations of admission webhooks. */
import { always, bytes, type Infer, inline, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { itemValues, pointerValues } from '../../published-values.ts';

const ServiceReference = message('admissionregistration.v1.ServiceReference', {
  namespace: req(1, string),
  name: req(2, string),
  path: ptr(3, string),
  port: ptr(4, int32, { default: 443 }),
});

export const WebhookClientConfig = message('admissionregistration.v1.WebhookClientConfig', {
  url: ptr(3, string),
  service: ptr(1, ServiceReference),
  caBundle: opt(2, bytes),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;

const Rule = message('admissionregistration.v1.Rule', {
  apiGroups: opt(1, list(string)),
  apiVersions: opt(2, list(string)),
  resources: opt(3, list(string)),
  scope: ptr(4, string, { default: '*', from: { '1.35': { enum: ['*', 'Cluster', 'Namespaced'] } } }),
});

export const RuleWithOperations = message('admissionregistration.v1.RuleWithOperations', {
  operations: opt(1, list(string), itemValues('*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE')),
  rule: inline(2, Rule),
});
export type RuleWithOperations = Infer<typeof RuleWithOperations>;

/** A condition of a webhook or a policy. */
export const MatchCondition = message('admissionregistration.v1.MatchCondition', {
  name: req(1, string),
  expression: req(2, string),
});

const matchConditions = { since: '1.27', gate: 'AdmissionWebhookMatchConditions', patch: 'merge', mergeKey: 'name' } as const;

export const MutatingWebhook = message('admissionregistration.v1.MutatingWebhook', {
  name: req(1, string),
  clientConfig: req(2, WebhookClientConfig),
  rules: opt(3, list(RuleWithOperations)),
  failurePolicy: ptr(4, string, { default: 'Fail', ...pointerValues('Fail', 'Ignore') }),
  matchPolicy: ptr(9, string, { default: 'Equivalent', ...pointerValues('Equivalent', 'Exact') }),
  namespaceSelector: ptr(5, LabelSelector),
  objectSelector: ptr(11, LabelSelector),
  sideEffects: req(6, string, { nullable: true, ...pointerValues('None', 'NoneOnDryRun', 'Some', 'Unknown') }),
  timeoutSeconds: ptr(7, int32, { default: 10 }),
  admissionReviewVersions: req(8, list(string)),
  reinvocationPolicy: ptr(10, string, { default: 'Never', ...pointerValues('IfNeeded', 'Never') }),
  matchConditions: opt(12, list(MatchCondition, 'map', ['name']), matchConditions),
});
export type MutatingWebhook = Infer<typeof MutatingWebhook>;

export const MutatingWebhookConfiguration = object('admissionregistration.v1.MutatingWebhookConfiguration', {
  metadata: always(1, ObjectMeta),
  webhooks: opt(2, list(MutatingWebhook, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
});
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;

export const ValidatingWebhook = message('admissionregistration.v1.ValidatingWebhook', {
  name: req(1, string),
  clientConfig: req(2, WebhookClientConfig),
  rules: opt(3, list(RuleWithOperations)),
  failurePolicy: ptr(4, string, { default: 'Fail', ...pointerValues('Fail', 'Ignore') }),
  matchPolicy: ptr(9, string, { default: 'Equivalent', ...pointerValues('Equivalent', 'Exact') }),
  namespaceSelector: ptr(5, LabelSelector),
  objectSelector: ptr(10, LabelSelector),
  sideEffects: req(6, string, { nullable: true, ...pointerValues('None', 'NoneOnDryRun', 'Some', 'Unknown') }),
  timeoutSeconds: ptr(7, int32, { default: 10 }),
  admissionReviewVersions: req(8, list(string)),
  matchConditions: opt(11, list(MatchCondition, 'map', ['name']), matchConditions),
});
export type ValidatingWebhook = Infer<typeof ValidatingWebhook>;

export const ValidatingWebhookConfiguration = object('admissionregistration.v1.ValidatingWebhookConfiguration', {
  metadata: always(1, ObjectMeta),
  webhooks: opt(2, list(ValidatingWebhook, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
});
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;
