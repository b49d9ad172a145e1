/**
 * Policies let their writers see parameters, by what they do with requests: who names parameters must be able to read them. Not one of
 * the plug-ins that can be switched.
 */
import type { BindingSpec, ParamKind } from '@plat-dev/kinds/admissionregistration/schema/policies';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { isAtLeast } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { invalid } from '@plat-dev/meta/errors';
import { type Attributes, type User, wellKnown } from '../../auth/types.ts';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../types.ts';

type PolicyObject = ApiObject & { readonly spec: { readonly paramKind?: ParamKind } };
type BindingObject = ApiObject & { readonly spec: BindingSpec };

const GROUP = 'admissionregistration';
const policies = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies']);
const policyOf = new Map([
  ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
  ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'],
]);
const SINCE = '1.26';

export function policyParameterAccess(env: PluginEnv): AdmissionPlugin {
  return {
    name: 'PolicyParameterAccess',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: ({ kind, custom, release }) =>
      !custom && kind.group === GROUP && isAtLeast(release, SINCE) && (policies.has(kind.plural) || policyOf.has(kind.plural)),
    async validate(request) {
      const { served, subresource, user, object } = request;
      if (subresource !== '' || object === undefined || user.groups.includes(wellKnown.masters)) return;
      if (policies.has(served.kind.plural)) await checkPolicy(env, request, object as PolicyObject);
      else await checkBinding(env, request, object as BindingObject, policyOf.get(served.kind.plural) as string);
    },
  };
}

async function checkPolicy(env: PluginEnv, request: AdmissionRequest, { spec: { paramKind } }: PolicyObject): Promise<void> {
  const old = request.oldObject as PolicyObject | undefined;
  if (paramKind === undefined || (old !== undefined && equal(paramKind, old.spec.paramKind))) return;
  if (await mayRead(env, request.user, paramKind, { verb: 'get', name: '*', namespace: '*' })) return;
  const { kind = '', apiVersion = '' } = paramKind;
  const of = `all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw refused(request, 'spec.paramKind', `user ${userText(request.user)} must have "get" permission on ${of}`);
}

async function checkBinding(env: PluginEnv, request: AdmissionRequest, { spec }: BindingObject, plural: string): Promise<void> {
  const { paramRef, policyName = '' } = spec;
  const old = (request.oldObject as BindingObject | undefined)?.spec;
  if (paramRef === undefined || (old !== undefined && equal([paramRef, policyName], [old.paramRef, old.policyName]))) return;
  const policy = env.live<PolicyObject>(GROUP, plural).get('', policyName);
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  if (await mayRead(env, request.user, policy?.spec.paramKind, { verb, name, namespace })) return;
  const user = userText(request.user);
  throw refused(request, 'spec.paramRef', `user ${user} does not have "${verb}" permission on the object referenced by paramRef`);
}

/** What is not known must be readable whatever it is. */
async function mayRead(
  env: PluginEnv,
  user: User,
  paramKind: ParamKind | undefined,
  what: Pick<Attributes, 'verb' | 'name' | 'namespace'>,
): Promise<boolean> {
  const { group, version } = paramKind === undefined ? { group: '*', version: '*' } : splitApiVersion(paramKind.apiVersion ?? '');
  const resource = paramKind === undefined ? undefined : env.findKind(group, paramKind.kind ?? '', version)?.kind.plural;
  const attributes = { user, ...what, group, version, resource: resource ?? '*', subresource: '', path: '', resourceRequest: true };
  return (await env.authorize(attributes)).decision === 'allow';
}

const refused = ({ served, name }: AdmissionRequest, field: string, why: string) =>
  invalid(served.groupKind, name, [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }]);

/** As a stock server prints one. */
function userText({ name, uid = '', groups, extra = {} }: User): string {
  const entries = Object.keys(extra)
    .sort()
    .map((key) => `${key}:[${extra[key]?.join(' ') ?? ''}]`);
  return `&{${name} ${uid} [${groups.join(' ')}] map[${entries.join(' ')}]}`;
}
