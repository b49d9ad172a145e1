/**
 * Resources that may be used only if a quota covers them:
 *
 *   apiVersion: apiserver.config.<pd>/v1
 *   kind: ResourceQuotaConfiguration
 *   limitedResources:
 *   - resource: pods
 *     matchScopes: [{ scopeName: PriorityClass, operator: In, values: [cluster-services] }]
 *   - resource: persistentvolumeclaims
 *     matchContains: [.storageclass.storage.<pd>/requests.storage]
 */

import type { ScopedResourceSelectorRequirement } from '@plat-dev/kinds/core/schema/quota';
import type { Usage } from '@plat-dev/kinds/quota/usage';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { checkType, object, refuseUnknown, stringList } from '../../configuration.ts';
import type { PluginConfiguration } from '../../plugin.ts';

export type ScopeRule = ScopedResourceSelectorRequirement;

export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRule[];
}

export function readLimitedResources(configuration: PluginConfiguration | undefined, identity: Identity): LimitedResource[] {
  if (configuration === undefined) return [];
  const versions = [
    joinApiVersion(groupName(identity, 'apiserver.config'), 'v1'),
    joinApiVersion(groupName(identity, 'resourcequota.admission'), 'v1'),
    joinApiVersion(groupName(identity, 'resourcequota.admission'), 'v1beta1'),
    joinApiVersion(groupName(identity, 'resourcequota.admission'), 'v1alpha1'),
  ];
  const value = object(configuration.value, 'the configuration');
  const kind = value.kind === 'Configuration' ? 'Configuration' : 'ResourceQuotaConfiguration';
  const { limitedResources } = checkType(value, kind, versions);
  refuseUnknown(value, ['apiVersion', 'kind', 'limitedResources'], 'the configuration');
  if (limitedResources === undefined || limitedResources === null) return [];
  if (!Array.isArray(limitedResources)) throw new Error('limitedResources must be a list');
  return limitedResources.map((entry, i) => readOne(object(entry, `limitedResources[${i}]`), `limitedResources[${i}]`));
}

function readOne(entry: JsonObject, at: string): LimitedResource {
  refuseUnknown(entry, ['apiGroup', 'resource', 'matchContains', 'matchScopes'], at);
  if (typeof entry.resource !== 'string' || entry.resource === '') throw new Error(`${at}.resource is needed`);
  const scopes = entry.matchScopes ?? [];
  if (!Array.isArray(scopes)) throw new Error(`${at}.matchScopes must be a list`);
  if (entry.apiGroup !== undefined && entry.apiGroup !== null && typeof entry.apiGroup !== 'string')
    throw new Error(`${at}.apiGroup must be a text`);
  return {
    group: typeof entry.apiGroup === 'string' ? entry.apiGroup : '',
    resource: entry.resource,
    matchContains: stringList(entry.matchContains, `${at}.matchContains`),
    matchScopes: scopes.map((scope, j) => {
      const rule = object(scope, `${at}.matchScopes[${j}]`);
      refuseUnknown(rule, ['scopeName', 'operator', 'values'], `${at}.matchScopes[${j}]`);
      const { scopeName, operator, values } = rule;
      if (typeof scopeName !== 'string' || typeof operator !== 'string')
        throw new Error(`${at}.matchScopes[${j}] needs a scopeName and an operator`);
      return { scopeName, operator, values: [...stringList(values, `${at}.matchScopes[${j}].values`)] };
    }),
  };
}

export const limitedFor = (limited: readonly LimitedResource[], group: string, resource: string): readonly LimitedResource[] =>
  limited.length === 0 ? limited : limited.filter((one) => one.group === group && one.resource === resource);

/** The resources that the object uses and that a quota must cover. */
export function demandedNames(limited: readonly LimitedResource[], usage: Usage): string[] {
  const demanded = (name: string): boolean => limited.some(({ matchContains }) => matchContains.some((part) => name.includes(part)));
  return [...usage].filter(([name, quantity]) => quantity.sign > 0 && demanded(name)).map(([name]) => name);
}
export const demandedScopes = (limited: readonly LimitedResource[]): ScopeRule[] => limited.flatMap(({ matchScopes }) => [...matchScopes]);
