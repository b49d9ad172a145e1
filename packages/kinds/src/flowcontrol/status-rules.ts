/** Strategies that flow schemas and priority levels share: conditions are written by the status subresource alone. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { ApiObject, KindEnv, Strategy, WriteRequest } from '../kind.ts';
import { keepMetadata } from '../subresources.ts';
import { each } from '../validation/each.ts';

interface FlowObject extends ApiObject {
  spec: unknown;
  status: { conditions?: { type?: string }[] };
}

function validateStatus({ status }: FlowObject, errors: FieldErrors): void {
  const conditionTypes = new Set<string>();
  each(status.conditions, Path.of('status', 'conditions'), ({ type = '' }, at) => {
    if (conditionTypes.has(type)) errors.duplicate(at.child('type'), type);
    conditionTypes.add(type);
    if (type === '') errors.required(at.child('type'), 'must not be empty');
  });
}

/** The rules of the object itself. */
export function objectStrategy<T extends FlowObject>(
  validate: (object: T, errors: FieldErrors, env: KindEnv, request: WriteRequest) => void,
): Strategy<T> {
  const check = (object: T, errors: FieldErrors, env: KindEnv, request: WriteRequest): void => {
    validate(object, errors, env, request);
    validateStatus(object, errors);
  };
  return {
    prepareForCreate: (object) => {
      object.status = {};
    },
    prepareForUpdate: (object, old) => {
      object.status = old.status;
    },
    validate: check,
    validateUpdate: (object, _old, errors, env, request) => check(object, errors, env, request),
    resetFields: [['status']],
  };
}

/** The rules of its status: no other field changes, not even metadata. */
export function statusStrategy<T extends FlowObject>(): Strategy<T> {
  return {
    prepareForUpdate(object, old) {
      keepMetadata(object, old);
      object.spec = old.spec;
    },
    validateUpdate: (object, _old, errors) => validateStatus(object, errors),
    resetFields: [['spec'], ['metadata']],
  };
}
