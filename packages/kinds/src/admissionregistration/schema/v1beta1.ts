/** Registrations of admission webhooks of version 1beta1: the same fields, with other defaults, and two that may be left out. */
import { always, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const version = 'admissionregistration.v1beta1';

const fields = {
  name: req(1, string),
  clientConfig: req(2, inVersion(v1.WebhookClientConfig, version)),
  rules: opt(3, list(inVersion(v1.RuleWithOperations, version))),
  failurePolicy: ptr(4, string, { default: 'Ignore' }),
  matchPolicy: ptr(9, string, { default: 'Exact' }),
  namespaceSelector: ptr(5, LabelSelector),
};
const laterFields = {
  sideEffects: ptr(6, string, { default: 'Unknown' }),
  timeoutSeconds: ptr(7, int32, { default: 30 }),
  admissionReviewVersions: opt(8, list(string)),
};

const conditions = list(inVersion(v1.MatchCondition, version), 'map', ['name']);

const MutatingWebhook = message(`${version}.MutatingWebhook`, {
  ...fields,
  objectSelector: ptr(11, LabelSelector),
  ...laterFields,
  reinvocationPolicy: ptr(10, string, { default: 'Never' }),
  matchConditions: opt(12, conditions, { since: '1.27' }),
});
export const MutatingWebhookConfiguration = object(`${version}.MutatingWebhookConfiguration`, {
  metadata: always(1, ObjectMeta),
  webhooks: opt(2, list(MutatingWebhook, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
});

const ValidatingWebhook = message(`${version}.ValidatingWebhook`, {
  ...fields,
  objectSelector: ptr(10, LabelSelector),
  ...laterFields,
  matchConditions: opt(11, conditions, { since: '1.27' }),
});
export const ValidatingWebhookConfiguration = object(`${version}.ValidatingWebhookConfiguration`, {
  metadata: always(1, ObjectMeta),
  webhooks: opt(2, list(ValidatingWebhook, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
});
