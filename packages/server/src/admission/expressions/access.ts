/** What expressions ask of the authorizer, for the user of the request or for a service account. */
import type { AccessCheck, AccessDecision, AskAccess } from '@plat-dev/kinds/expressions/admission-values';
import { type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { selectorsIn } from '../../auth/selectors.ts';
import { type Attributes, type Decision, type User, wellKnown } from '../../auth/types.ts';
import type { PluginEnv } from '../plugin.ts';

/** The same question is asked once; questions and answers live as long as the request. */
export function accessOf({ authorize }: Pick<PluginEnv, 'authorize'>, user: User): AskAccess {
  const answers = new Map<string, MaybePromise<AccessDecision>>();
  return (access) => {
    const key = keyOf(access);
    const existing = answers.get(key);
    if (existing !== undefined) return existing;
    const answer = answered(authorize, attributesOf(access, user));
    answers.set(key, answer);
    // Whoever waits for the answer asks again and must find it.
    return whenReady(answer, (decision) => {
      answers.set(key, decision);
      return decision;
    });
  };
}

const keyOf = ({ path, group, resource, subresource, namespace, name, verb, fieldSelector, labelSelector, serviceAccount }: AccessCheck) =>
  JSON.stringify([
    ...[path, group, resource, subresource, namespace, name, verb, fieldSelector, labelSelector],
    ...[serviceAccount?.namespace, serviceAccount?.name],
  ]);

function answered(authorize: PluginEnv['authorize'], attributes: Attributes): MaybePromise<AccessDecision> {
  const failed = (error: unknown): AccessDecision => ({ allowed: false, error: error instanceof Error ? error.message : String(error) });
  try {
    const answer = authorize(attributes);
    return answer instanceof Promise ? answer.then(accessDecision, failed) : accessDecision(answer);
  } catch (error) {
    return failed(error);
  }
}
const accessDecision = ({ decision, reason, error }: Decision): AccessDecision => ({
  allowed: decision === 'allow',
  reason,
  ...(error !== undefined && { error }),
});

function attributesOf(access: AccessCheck, user: User): Attributes {
  const { path = '', group = '', resource = '', subresource = '', namespace = '', name = '', verb = '', serviceAccount } = access;
  const selectors = selectorsIn((query) => access[query as 'fieldSelector' | 'labelSelector']);
  return {
    user: serviceAccount === undefined ? user : accountUser(serviceAccount),
    verb,
    group,
    version: resource === '' ? '' : '*',
    resource,
    subresource,
    namespace,
    name,
    path,
    resourceRequest: access.path === undefined,
    ...(selectors !== undefined && { selectors }),
  };
}
const accountUser = ({ namespace, name }: NonNullable<AccessCheck['serviceAccount']>): User => ({
  name: `${wellKnown.serviceAccountPrefix}${namespace}:${name}`,
  groups: [wellKnown.serviceAccounts, `${wellKnown.serviceAccounts}:${namespace}`, wellKnown.authenticated],
});
