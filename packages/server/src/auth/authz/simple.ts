/** Authorizers that need no data. */
import { type Authorizer, type Decision, noChanges, noOpinion, type RuleSet, wellKnown } from '../types.ts';

const allowed: Decision = { decision: 'allow', reason: '' };
const everything: RuleSet = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};
export const noRules: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Members of `system:masters` may do everything regardless of rules, so that the administrator cannot be locked out. */
export const superuser: Authorizer = {
  name: 'superuser',
  authorize: (attributes) => (attributes.user.groups.includes(wellKnown.masters) ? allowed : noOpinion),
  changes: () => noChanges,
  // A stock server lists the permissions of roles, and omits this one.
  rulesFor: async () => noRules,
};

export const alwaysAllow: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => allowed,
  changes: () => noChanges,
  rulesFor: async () => everything,
};

const forbidden: Decision = { decision: 'none', reason: 'Everything is forbidden.' };
export const alwaysDeny: Authorizer = { name: 'AlwaysDeny', authorize: () => forbidden, rulesFor: async () => noRules };
