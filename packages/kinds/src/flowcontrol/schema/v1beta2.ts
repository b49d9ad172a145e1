/** Flow schemas and priority levels. */
import { always, bool, type Infer, int32, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const FlowDistinguisherMethod = message('flowcontrol.v1beta2.FlowDistinguisherMethod', {
  type: req(1, string),
});

const PriorityLevelConfigurationReference = message('flowcontrol.v1beta2.PriorityLevelConfigurationReference', {
  name: req(1, string),
});

const UserSubject = message('flowcontrol.v1beta2.UserSubject', {
  name: req(1, string),
});

const GroupSubject = message('flowcontrol.v1beta2.GroupSubject', {
  name: req(1, string),
});

export const ServiceAccountSubject = message('flowcontrol.v1beta2.ServiceAccountSubject', {
  namespace: req(1, string),
  name: req(2, string),
});
export type ServiceAccountSubject = Infer<typeof ServiceAccountSubject>;

export const Subject = message('flowcontrol.v1beta2.Subject', {
  kind: req(1, string),
  user: ptr(2, UserSubject),
  group: ptr(3, GroupSubject),
  serviceAccount: ptr(4, ServiceAccountSubject),
});
export type Subject = Infer<typeof Subject>;

export const ResourcePolicyRule = message('flowcontrol.v1beta2.ResourcePolicyRule', {
  verbs: req(1, list(string, 'set')),
  apiGroups: req(2, list(string, 'set')),
  resources: req(3, list(string, 'set')),
  clusterScope: opt(4, bool),
  namespaces: always(5, list(string, 'set')),
});
export type ResourcePolicyRule = Infer<typeof ResourcePolicyRule>;

export const NonResourcePolicyRule = message('flowcontrol.v1beta2.NonResourcePolicyRule', {
  verbs: req(1, list(string, 'set')),
  nonResourceURLs: req(6, list(string, 'set')),
});
export type NonResourcePolicyRule = Infer<typeof NonResourcePolicyRule>;

export const PolicyRulesWithSubjects = message('flowcontrol.v1beta2.PolicyRulesWithSubjects', {
  subjects: req(1, list(Subject)),
  resourceRules: opt(2, list(ResourcePolicyRule)),
  nonResourceRules: opt(3, list(NonResourcePolicyRule)),
});
export type PolicyRulesWithSubjects = Infer<typeof PolicyRulesWithSubjects>;

export const FlowSchemaSpec = message('flowcontrol.v1beta2.FlowSchemaSpec', {
  priorityLevelConfiguration: req(1, PriorityLevelConfigurationReference),
  matchingPrecedence: always(2, int32, { default: 1000 }),
  distinguisherMethod: ptr(3, FlowDistinguisherMethod),
  rules: opt(4, list(PolicyRulesWithSubjects)),
});
export type FlowSchemaSpec = Infer<typeof FlowSchemaSpec>;

export const FlowSchemaCondition = message('flowcontrol.v1beta2.FlowSchemaCondition', {
  type: opt(1, string),
  status: opt(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});
export type FlowSchemaCondition = Infer<typeof FlowSchemaCondition>;

const FlowSchemaStatus = message('flowcontrol.v1beta2.FlowSchemaStatus', {
  conditions: opt(1, list(FlowSchemaCondition, 'map', ['type'])),
});

export const FlowSchema = object('flowcontrol.v1beta2.FlowSchema', {
  metadata: always(1, ObjectMeta),
  spec: always(2, FlowSchemaSpec),
  status: always(3, FlowSchemaStatus),
});
export type FlowSchema = Infer<typeof FlowSchema>;

export const QueuingConfiguration = message('flowcontrol.v1beta2.QueuingConfiguration', {
  queues: always(1, int32, { default: 64 }),
  handSize: always(2, int32, { default: 8 }),
  queueLengthLimit: always(3, int32, { default: 50 }),
});
export type QueuingConfiguration = Infer<typeof QueuingConfiguration>;

export const LimitResponse = message('flowcontrol.v1beta2.LimitResponse', {
  type: req(1, string),
  queuing: ptr(2, QueuingConfiguration),
});
export type LimitResponse = Infer<typeof LimitResponse>;

export const LimitedPriorityLevelConfiguration = message('flowcontrol.v1beta2.LimitedPriorityLevelConfiguration', {
  assuredConcurrencyShares: always(1, int32, { default: 30 }),
  limitResponse: always(2, LimitResponse),
  lendablePercent: ptr(3, int32, { since: '1.26', default: 0 }),
  borrowingLimitPercent: ptr(4, int32, { since: '1.26' }),
});
export type LimitedPriorityLevelConfiguration = Infer<typeof LimitedPriorityLevelConfiguration>;

export const ExemptPriorityLevelConfiguration = message('flowcontrol.v1beta2.ExemptPriorityLevelConfiguration', {
  nominalConcurrencyShares: ptr(1, int32, { default: 0 }),
  lendablePercent: ptr(2, int32, { default: 0 }),
});
export type ExemptPriorityLevelConfiguration = Infer<typeof ExemptPriorityLevelConfiguration>;

export const PriorityLevelConfigurationSpec = message('flowcontrol.v1beta2.PriorityLevelConfigurationSpec', {
  type: req(1, string),
  limited: ptr(2, LimitedPriorityLevelConfiguration),
  exempt: ptr(3, ExemptPriorityLevelConfiguration, { since: '1.28' }),
});
export type PriorityLevelConfigurationSpec = Infer<typeof PriorityLevelConfigurationSpec>;

const PriorityLevelConfigurationCondition = message('flowcontrol.v1beta2.PriorityLevelConfigurationCondition', {
  type: opt(1, string),
  status: opt(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

export const PriorityLevelConfigurationStatus = message('flowcontrol.v1beta2.PriorityLevelConfigurationStatus', {
  conditions: opt(1, list(PriorityLevelConfigurationCondition, 'map', ['type'])),
});
export type PriorityLevelConfigurationStatus = Infer<typeof PriorityLevelConfigurationStatus>;

export const PriorityLevelConfiguration = object('flowcontrol.v1beta2.PriorityLevelConfiguration', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PriorityLevelConfigurationSpec),
  status: always(3, PriorityLevelConfigurationStatus),
});
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
