/**
 * The audit policy: which requests are recorded, and how much of them. Rules are tried in order and the first that fits
 * decides; a request that none fits is not recorded.
 */

import { Policy, type PolicyRule } from '@plat-dev/kinds/audit/schema/v1';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity, kubernetes } from '@plat-dev/meta/identity';
import { unknownFieldsIn } from '@plat-dev/schema/fields/field-place';
import { DecodeError, decode } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
/** Levels as numbers, so that more is more. */
export const Level = { None: 0, Metadata: 1, Request: 2, RequestResponse: 3 } as const;
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

/** What a rule is asked about. Without a user: the request could not be authenticated. */
export interface AuditedRequest {
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
  readonly verb: string;
  readonly resourceRequest: boolean;
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Verdict {
  readonly level: number;
  readonly omitStages: ReadonlySet<string>;
  readonly omitManagedFields: boolean;
}
const nothing: Verdict = { level: Level.None, omitStages: new Set(), omitManagedFields: false };

export interface AuditPolicy {
  decide(attributes: AuditedRequest): Verdict;
}

/** An invalid policy. The message is for its author. */
export class PolicyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** Reads a parsed policy file. Throws PolicyError; what it does not know it refuses, for a rule misread is a gap. */
export function readPolicy(value: JsonValue, identity: Identity): AuditPolicy {
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  const versions = [...new Set([groupName(identity, 'audit'), groupName(kubernetes, 'audit')])].map((group) => `${group}/v1`);
  if (kind !== 'Policy' || !versions.includes(apiVersion as string))
    throw new PolicyError(`must be of kind Policy in version ${versions[0]}, not ${String(kind)} in ${String(apiVersion)}`);
  const policy = decodePolicy(value);
  const errors = validate(policy);
  if (!errors.empty) throw new PolicyError(errors.list.map(({ field, message }) => `${field}: ${message}`).join('; '));
  return compile(policy);
}

function decodePolicy(value: JsonValue): Policy {
  try {
    const policy = decode(Policy, value);
    const unknown = unknownFieldsIn(Policy, value);
    if (unknown.length > 0) throw new PolicyError(unknown.join(', '));
    return policy;
  } catch (error) {
    if (error instanceof DecodeError) throw new PolicyError(error.message);
    throw error;
  }
}

function validate(policy: Policy): FieldErrors {
  const errors = new FieldErrors();
  if ((policy.rules ?? []).length === 0) errors.required(Path.of('rules'), 'a policy without rules records nothing');
  checkStages(policy.omitStages, Path.of('omitStages'), errors);
  (policy.rules ?? []).forEach((rule, i) => {
    const at = Path.of('rules').index(i);
    if (!(levels as readonly string[]).includes(rule.level)) errors.notSupported(at.child('level'), rule.level, levels);
    checkStages(rule.omitStages, at.child('omitStages'), errors);
    checkUrls(rule, at, errors);
    (rule.resources ?? []).forEach(({ resources = [], resourceNames = [] }, j) => {
      if (resourceNames.length > 0 && resources.length === 0)
        errors.invalid(
          at.child('resources').index(j).child('resourceNames'),
          resourceNames,
          'using resourceNames requires at least one resource',
        );
    });
  });
  return errors;
}

function checkStages(stageNames: readonly string[] | undefined, at: Path, errors: FieldErrors): void {
  (stageNames ?? []).forEach((stage, i) => {
    if (!(stages as readonly string[]).includes(stage)) errors.notSupported(at.index(i), stage, stages);
  });
}

function checkUrls(rule: PolicyRule, at: Path, errors: FieldErrors): void {
  const urls = rule.nonResourceURLs ?? [];
  const here = at.child('nonResourceURLs');
  if (urls.length > 0 && ((rule.resources ?? []).length > 0 || (rule.namespaces ?? []).length > 0))
    errors.invalid(here, urls, 'rules cannot apply to both regular resources and non-resource URLs');
  urls.forEach((url, i) => {
    if (url === '*') return;
    if (!url.startsWith('/'))
      errors.invalid(here.index(i), url, 'non-resource URL rules must begin with a \'/\' character or consist only of a "*"');
    if (url.slice(0, -1).includes('*'))
      errors.invalid(here.index(i), url, "non-resource URL wildcards '*' must be the final character of the rule");
  });
}

interface Compiled {
  readonly rule: PolicyRule;
  readonly verdict: Verdict;
}

function compile(policy: Policy): AuditPolicy {
  const rules = (policy.rules ?? []).map((rule): Compiled => {
    const level = (levels as readonly string[]).indexOf(rule.level);
    const omitStages = new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]);
    return { rule, verdict: { level, omitStages, omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false } };
  });
  return {
    decide(attributes) {
      for (const { rule, verdict } of rules) if (fits(rule, attributes)) return verdict;
      return nothing;
    },
  };
}

const has = (list: readonly string[] | undefined): list is readonly string[] => list !== undefined && list.length > 0;

function fits(rule: PolicyRule, attributes: AuditedRequest): boolean {
  const { user } = attributes;
  if (has(rule.users) && (user === undefined || !rule.users.includes(user.name))) return false;
  if (has(rule.userGroups) && !(user?.groups ?? []).some((group) => (rule.userGroups as string[]).includes(group))) return false;
  if (has(rule.verbs) && !rule.verbs.includes(attributes.verb)) return false;
  if (has(rule.namespaces) || (rule.resources ?? []).length > 0) return attributes.resourceRequest && fitsResource(rule, attributes);
  if (has(rule.nonResourceURLs)) return !attributes.resourceRequest && rule.nonResourceURLs.some((url) => fitsPath(url, attributes.path));
  return true;
}

/** Objects without a namespace have the empty one. */
function fitsResource(rule: PolicyRule, attributes: AuditedRequest): boolean {
  if (has(rule.namespaces) && !rule.namespaces.includes(attributes.namespace)) return false;
  const groups = rule.resources ?? [];
  if (groups.length === 0) return true;
  return groups.some(({ group = '', resources = [], resourceNames = [] }) => {
    if (group !== attributes.group) return false;
    if (resources.length === 0) return true;
    if (resourceNames.length > 0 && !resourceNames.includes(attributes.name)) return false;
    return resources.some((name) => fitsName(name, attributes));
  });
}

/** `pods`, `pods/log`, `pods/*` (pods with all their subresources), `*\/scale`, `*` */
function fitsName(name: string, { resource, subresource }: AuditedRequest): boolean {
  if (name === '*') return true;
  if (name === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (name.startsWith('*/')) return subresource !== '' && name.slice(2) === subresource;
  return name.endsWith('/*') && name.slice(0, -2) === resource;
}

const fitsPath = (url: string, path: string): boolean => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
