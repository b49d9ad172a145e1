/** The scale of a custom object: the definition has the paths of its replicas and its selector. */

import type { CustomResourceSubresourceScale } from '@plat-dev/kinds/apiextensions/schema/v1';
import { scaleKind, scaleTable } from '@plat-dev/kinds/autoscaling/scale';
import { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { ApiObject, ViewSubresource } from '@plat-dev/kinds/kind';
import { type Integer, isInteger } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { badRequest, unprocessable } from '@plat-dev/meta/errors';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { JsonPathError, plainPath, setAt, valueAt } from '@plat-dev/meta/json-path';

/** The replicas of an object that has none, as a patch of its scale sees them: not a valid number. */
const UNSET = -(2 ** 31);
const MAX_REPLICAS = 2 ** 31 - 1;

/** The scale of one version, read from and written to objects in that version. */
export function scaleView(paths: CustomResourceSubresourceScale): ViewSubresource {
  const specReplicas = numberField(paths.specReplicasPath);
  const present = numberField(paths.statusReplicasPath);
  const selector = textField(paths.labelSelectorPath);
  const view: ViewSubresource<ApiObject, Scale> = {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    kind: scaleKind,
    schema: Scale,
    replicasPath: plainPath(paths.specReplicasPath),
    show(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const text = demand(selector(object)) ?? '';
      return {
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: int32(demand(specReplicas(object)) ?? UNSET) },
        status: { replicas: int32(demand(present(object)) ?? 0), ...(text !== '' && { selector: text }) },
      };
    },
    hidden(object) {
      if (demand(specReplicas(object)) !== undefined) return undefined;
      return unprocessable(`the spec replicas field "${paths.specReplicasPath}" does not exist`);
    },
    write(scale, object) {
      const replicas = scale.spec.replicas ?? 0;
      if (replicas === UNSET) throw badRequest(`the spec replicas field "${paths.specReplicasPath}" cannot be empty`);
      setAt(object, plainPath(paths.specReplicasPath), replicas);
    },
    ...scaleTable,
  };
  // Subresources of a kind have one type, without that of the view.
  return view as unknown as ViewSubresource;
}

/** Objects that were stored before they had the subresource may have more. */
const int32 = (count: Integer): number => Number(BigInt.asIntN(32, BigInt(count)));

/** Validates the replicas of spec and status of an object with a scale subresource, in every write. */
export function validateScaleSpec(paths: CustomResourceSubresourceScale | undefined, object: ApiObject, errors: FieldErrors): void {
  if (paths !== undefined) validateNumber(paths.specReplicasPath, object, errors);
}
export function validateScaleStatus(paths: CustomResourceSubresourceScale | undefined, object: ApiObject, errors: FieldErrors): void {
  if (paths === undefined) return;
  validateNumber(paths.statusReplicasPath, object, errors);
  const { labelSelectorPath = '' } = paths;
  const selectorText = textField(labelSelectorPath)(object);
  if (selectorText.fault !== undefined) errors.invalid(Path.of(labelSelectorPath), '', selectorText.fault);
}

function validateNumber(path: string, object: ApiObject, errors: FieldErrors): void {
  const { value = 0, fault } = numberField(path)(object);
  if (fault !== undefined) errors.invalid(Path.of(path), 0, fault);
  else if (value < 0) errors.invalid(Path.of(path), value, 'should be a non-negative integer');
  else if (value > MAX_REPLICAS) errors.invalid(Path.of(path), value, `should be less than or equal to ${MAX_REPLICAS}`);
}

// ---- fields ----------------------------------------------------------------------------------------------------

interface Found<T> {
  readonly value?: T | undefined;
  /** Why the value is not usable. */
  readonly fault?: string;
}
type Field<T> = (object: ApiObject) => Found<T>;

function fieldAt<T>(text: string, is: (value: unknown) => value is T, expected: string): Field<T> {
  const path = plainPath(text);
  return (object) => {
    try {
      const value = valueAt(object, path);
      if (value === undefined || is(value)) return { value };
      return { fault: `${text} accessor error: ${jsonText(value)} is not ${expected}` };
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      return { fault: `${text} accessor error: ${error.message}` };
    }
  };
}
const numberField = (path: string): Field<Integer> => fieldAt(path, isInteger, 'a whole number');
const textField = (path: string | undefined): Field<string> =>
  path === undefined || path === '' ? () => ({}) : fieldAt(path, (value): value is string => typeof value === 'string', 'a text');

function demand<T>({ value, fault }: Found<T>): T | undefined {
  if (fault !== undefined) throw unprocessable(fault);
  return value;
}
