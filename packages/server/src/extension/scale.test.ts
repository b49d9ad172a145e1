import type { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { ApiObject, ViewSubresource } from '@plat-dev/kinds/kind';
import { type Loose, testEnv } from '@plat-dev/kinds/validation/kinds.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import { scaleView, validateScaleSpec, validateScaleStatus } from './scale.ts';

const paths = { specReplicasPath: '.spec.a.b', statusReplicasPath: '.status.c', labelSelectorPath: '.status.selector' };
const view = scaleView(paths) as unknown as ViewSubresource<ApiObject, Scale>;
const metadata = {
  name: 'west',
  namespace: 'ns',
  uid: 'u',
  resourceVersion: '5',
  creationTimestamp: '2024-01-02T03:00:00Z',
  generation: 4,
};
const farm = (rest: object): ApiObject => ({ metadata: { ...metadata, labels: { a: 'b' } }, ...rest }) as ApiObject;
const scale = (replicas?: number): Scale => ({ metadata: {}, spec: replicas === undefined ? {} : { replicas }, status: { replicas: 0 } });
const refusal = (act: () => unknown): { code: number; message: string } | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    const { code, message } = error as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    return { code, message };
  }
};

test('the scale is read from the paths of the definition', () => {
  const { labels: _, generation: __, ...shown } = farm({}).metadata;
  expect(view.show(farm({ spec: { a: { b: 3 } }, status: { c: 2, selector: 'app=west' } }), testEnv)).toEqual({
    metadata: shown,
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'app=west' },
  });
  expect(view.show(farm({ spec: { a: { b: 0 } } }), testEnv)).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 0 } });
});

test('the selector may be left out of the definition', () => {
  const bare = scaleView({ specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }) as unknown as typeof view;
  expect(bare.show(farm({ spec: { n: 1 }, status: { n: 1, selector: 'a=b' } }), testEnv).status).toEqual({ replicas: 1 });
});

test('the number is written to its path, and objects on the way are made', () => {
  const object = farm({}) as Loose;
  view.write(scale(5), object, new FieldErrors(), testEnv);
  expect(object.spec).toEqual({ a: { b: 5 } });
  view.write(scale(), object, new FieldErrors(), testEnv);
  expect(object.spec).toEqual({ a: { b: 0 } });
});

test('an object without a number has no scale to read, yet may be given one', () => {
  const object = farm({ spec: {} });
  expect(view.hidden?.(object)).toMatchObject({
    code: 422,
    reason: 'Invalid',
    message: 'the spec replicas field ".spec.a.b" does not exist',
  });
  expect(view.hidden?.(farm({ spec: { a: { b: 0 } } }))).toBeUndefined();
  expect(refusal(() => view.write(view.show(object, testEnv), object, new FieldErrors(), testEnv))).toEqual({
    code: 400,
    message: 'the spec replicas field ".spec.a.b" cannot be empty',
  });
  view.write({ ...view.show(object, testEnv), spec: { replicas: 2 } }, object, new FieldErrors(), testEnv);
  expect(object).toMatchObject({ spec: { a: { b: 2 } } });
});

test('values of another type are no scale', () => {
  expect(refusal(() => view.show(farm({ spec: { a: { b: 'x' } } }), testEnv))?.message).toContain('.spec.a.b accessor error: "x"');
  expect(refusal(() => view.show(farm({ spec: { a: [] } }), testEnv))?.message).toContain('.spec.a is not an object');
  expect(refusal(() => view.show(farm({ spec: { a: { b: 1 } }, status: { selector: 1 } }), testEnv))?.message).toContain(
    '.status.selector',
  );
});

test('numbers are checked whichever way an object is written', () => {
  const problems = (object: object): string[] => {
    const errors = new FieldErrors();
    validateScaleSpec(paths, farm(object), errors);
    validateScaleStatus(paths, farm(object), errors);
    return errors.list.map(({ field, message }) => `${field}: ${message}`);
  };
  expect(problems({ spec: {}, status: {} })).toEqual([]);
  expect(problems({ spec: { a: { b: -1 } }, status: { c: -2 } })).toEqual([
    '.spec.a.b: Invalid value: -1: should be a non-negative integer',
    '.status.c: Invalid value: -2: should be a non-negative integer',
  ]);
  expect(problems({ spec: { a: { b: 2 ** 31 } } })).toEqual([
    '.spec.a.b: Invalid value: 2147483648: should be less than or equal to 2147483647',
  ]);
  expect(problems({ spec: { a: { b: 1.5 } }, status: { selector: {} } })).toEqual([
    expect.stringMatching(/^\.spec\.a\.b: Invalid value: 0: \.spec\.a\.b accessor error: 1\.5/),
    expect.stringMatching(/^\.status\.selector: Invalid value: "": \.status\.selector accessor error/),
  ]);
  const errors = new FieldErrors();
  validateScaleSpec(undefined, farm({ spec: { a: { b: -1 } } }), errors);
  validateScaleStatus(undefined, farm({ status: { c: -1 } }), errors);
  expect(errors.empty).toBe(true);
});
