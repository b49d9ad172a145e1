/** Ingress classes. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainPrefixedPath, nameIsLabel } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { validateTypedReference } from '../validation/references.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { IngressClass, type IngressClassParametersReference } from './schema/ingress.ts';

const controller = Path.of('spec', 'controller');
const parameters = Path.of('spec', 'parameters');
const MAX_CONTROLLER_BYTES = 250;
const scopes = ['Cluster', 'Namespace'];

function validate({ spec }: IngressClass, errors: FieldErrors): void {
  const controllerName = spec.controller ?? '';
  if (Buffer.byteLength(controllerName) > MAX_CONTROLLER_BYTES) errors.tooLong(controller, MAX_CONTROLLER_BYTES);
  if (controllerName === '') errors.required(controller);
  else report(errors, controller, controllerName, domainPrefixedPath(controllerName));
  if (spec.parameters !== undefined) validateParameters(spec.parameters, errors);
}

function validateParameters(reference: IngressClassParametersReference, errors: FieldErrors): void {
  const { scope, namespace } = reference;
  const at = parameters.child('namespace');
  validateTypedReference(reference, parameters, errors);
  if (scope === undefined) errors.required(parameters.child('scope'));
  else if (!scopes.includes(scope)) errors.notSupported(parameters.child('scope'), scope, scopes);
  else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.forbidden(at, "`parameters.scope` is set to 'Cluster'");
  } else if (namespace === undefined) errors.required(at, "`parameters.scope` is set to 'Namespace'");
  else report(errors, at, namespace, nameIsLabel(namespace));
}

/** `Config.example.com/main` */
function parametersCell(reference: IngressClassParametersReference | undefined): string {
  if (reference === undefined) return '<none>';
  const group = reference.apiGroup === undefined ? '' : `.${reference.apiGroup}`;
  return `${reference.kind}${group}/${reference.name}`;
}

export const IngressClassKind = kind<IngressClass>({
  group: 'networking',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  versions: { v1: { schema: IngressClass } },
  hub: 'v1',
  generation: true,
  strategy: {
    validate,
    validateUpdate(ingressClass, old, errors, env) {
      metadataUpdateAgain(ingressClass, old, errors, env);
      immutable(ingressClass.spec.controller ?? '', old.spec.controller ?? '', controller, errors);
      metadataAgain(ingressClass, { namespaced: false }, errors, env);
      validate(ingressClass, errors);
    },
  },
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The controller that serves ingresses of the class.' },
    { name: 'Parameters', type: 'string', description: 'The object that holds further settings of the class.' },
    ageColumn,
  ],
  cells: (ingressClass, env) => [
    nameCell(ingressClass),
    ingressClass.spec.controller ?? '',
    parametersCell(ingressClass.spec.parameters),
    ageCell(ingressClass, env),
  ],
});
