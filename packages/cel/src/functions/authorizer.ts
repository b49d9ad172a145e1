/**
 * Checks of what a user may do: `authorizer.group('apps').resource('deployments').namespace('a').check('create').allowed()`.
 *
 * The caller gives the value of the variable `authorizer`, which asks for decisions. A decision may come later: then the evaluation
 * ends with `Waiting`, and is begun again once the answer is there (evaluateWhenReady).
 */
import type { Frame } from '../budget.ts';
import { fail, Waiting } from '../errors.ts';
import { by, exactly, plus, type Range } from '../estimates.ts';
import { actualSize, costs, type Price, read } from '../prices.ts';
import { AUTHORIZER, BOOL, DECISION, GROUP_CHECK, PATH_CHECK, RESOURCE_CHECK, STRING } from '../types.ts';
import { type AccessCheck, AuthorizerValue, CheckValue, DecisionValue } from '../values.ts';
import { type Library, member, type Overload } from './signature.ts';

/** What a check costs: two of them fit into one expression. */
const CHECK_COST = 350_000;
/** What a requirement of a selector costs; one may be two characters long. */
const REQUIREMENT_COST = 50;
const selects: Price = {
  estimate: (args) => ({ cost: selectorCost(args[1]?.size ?? exactly(0)) }),
  cost: (args) => selectorCost(exactly(actualSize(args[1]))).max,
};
const selectorCost = (length: Range): Range => plus(plus(exactly(10), read(length)), by(by(length, 0.5), REQUIREMENT_COST));

const name = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function serviceAccount(_: Frame, authorizer: AuthorizerValue, namespace: string, account: string): AuthorizerValue {
  if (account.length > 253 || !name.test(account)) fail('Invalid service account name');
  if (namespace.length > 63 || !label.test(namespace)) fail('Invalid service account namespace');
  return new AuthorizerValue(authorizer.ask, { namespace, name: account });
}
const withField =
  (field: keyof AccessCheck) =>
  (_: Frame, check: CheckValue, value: string): CheckValue =>
    new CheckValue(check.authorizer, 'resource', { ...check.access, [field]: value });

function check(_: Frame, { authorizer, access }: CheckValue, verb: string): DecisionValue {
  const decision = authorizer.ask({ ...access, verb, ...(authorizer.account && { serviceAccount: authorizer.account }) });
  if (decision instanceof Promise) throw new Waiting(decision);
  return new DecisionValue(decision);
}

const checks: readonly Overload[] = [
  member('path', [AUTHORIZER, STRING], PATH_CHECK, (_, authorizer: AuthorizerValue, path: string) =>
    path.trim() === '' ? fail('path must not be empty') : new CheckValue(authorizer, 'path', { path }),
  ),
  member(
    'group',
    [AUTHORIZER, STRING],
    GROUP_CHECK,
    (_, authorizer: AuthorizerValue, group: string) => new CheckValue(authorizer, 'group', { group }),
  ),
  member('serviceAccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount),
  member('resource', [GROUP_CHECK, STRING], RESOURCE_CHECK, (frame, group: CheckValue, resource: string) =>
    resource.trim() === '' ? fail('resource must not be empty') : withField('resource')(frame, group, resource),
  ),
  member('subresource', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, withField('subresource')),
  member('namespace', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, withField('namespace')),
  member('name', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, withField('name')),
  member('check', [PATH_CHECK, STRING], DECISION, check, costs(CHECK_COST)),
  member('check', [RESOURCE_CHECK, STRING], DECISION, check, costs(CHECK_COST)),
  member('allowed', [DECISION], BOOL, (_, { decision }: DecisionValue) => decision.allowed),
  member('reason', [DECISION], STRING, (_, { decision }: DecisionValue) => decision.reason ?? ''),
];
const faults: readonly Overload[] = [
  member('errored', [DECISION], BOOL, (_, { decision }: DecisionValue) => decision.error !== undefined),
  member('error', [DECISION], STRING, (_, { decision }: DecisionValue) => decision.error ?? ''),
];
const selectors: readonly Overload[] = [
  member('fieldSelector', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, withField('fieldSelector'), selects),
  member('labelSelector', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, withField('labelSelector'), selects),
];

/** For environments whose expressions may ask what users may do. */
export const authorizerLibrary: readonly Library[] = [
  { since: '1.27', functions: checks, types: [AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION] },
  { since: '1.28', functions: faults },
  { since: '1.31', functions: selectors },
];
