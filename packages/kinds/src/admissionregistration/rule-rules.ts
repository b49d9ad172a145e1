/** Validation of the rules of a webhook: the operations and resources that it is called for. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { ReleaseEnv } from '../kind.ts';
import { each } from '../validation/each.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import type { RuleWithOperations } from './schema/v1.ts';

const operationTypes = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const all = '*';

/** From 1.34 on lists in errors are JSON. */
const JSON_SINCE = '1.34';
type InvalidList = (at: Path, type: string, list: readonly string[], detail: string) => void;

export function validateRule(rule: RuleWithOperations, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  const invalidList: InvalidList = (here, type, list, detail) => {
    if (env.since(JSON_SINCE)) errors.invalid(here, list, detail);
    else invalidText(errors, here, goList(type, list), detail);
  };
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const starAlone = (list: readonly string[], field: string, type: string, what: string): void => {
    if (list.length === 0) errors.required(at.child(field));
    if (list.length > 1 && list.includes(all))
      invalidList(at.child(field), type, list, `if '*' is present, must not specify other ${what}`);
  };
  starAlone(operations, 'operations', 'admissionregistration.OperationType', 'operations');
  each(operations, at.child('operations'), (operation, here) => {
    if (!operationTypes.includes(operation)) errors.notSupported(here, operation, operationTypes);
  });
  starAlone(apiGroups, 'apiGroups', 'string', 'API groups');
  starAlone(apiVersions, 'apiVersions', 'string', 'API versions');
  each(apiVersions, at.child('apiVersions'), (version, here) => {
    if (version === '') errors.required(here);
  });
  validateResources(resources, at.child('resources'), errors, invalidList);
  if (scope !== undefined && !scopes.includes(scope)) errors.notSupported(at.child('scope'), scope, scopes);
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` + `/scale`: a resource that a wildcard covers must not be listed with it. */
function validateResources(resources: readonly string[], at: Path, errors: FieldErrors, invalidList: InvalidList): void {
  if (resources.length === 0) errors.required(at);
  const wholes = new Set<string>();
  const parts = new Set<string>();
  let plain = false;
  each(resources, at, (name, here) => {
    if (name === '') {
      errors.required(here);
      return;
    }
    const slash = name.indexOf('/');
    if (slash < 0) {
      plain = name !== all;
      return;
    }
    const [resource, part] = [name.slice(0, slash), name.slice(slash + 1)];
    if (wholes.has(resource)) errors.invalid(here, name, `if '${resource}/*' is present, must not specify ${name}`);
    if (parts.has(part)) errors.invalid(here, name, `if '*/${part}' is present, must not specify ${name}`);
    if (part === all) wholes.add(resource);
    if (resource === all) parts.add(part);
  });
  if (resources.length > 1 && resources.includes('*/*'))
    invalidList(at, 'string', resources, "if '*/*' is present, must not specify other resources");
  if (resources.includes(all) && plain)
    invalidList(at, 'string', resources, "if '*' is present, must not specify other resources without subresources");
}
