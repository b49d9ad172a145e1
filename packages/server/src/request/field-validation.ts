/**
 * Field validation: the query parameter `fieldValidation` decides how unknown and repeated fields of a body are treated.
 *
 *   Ignore   they are dropped             Warn   they are dropped, and a warning names each      Strict   the request is refused
 *
 * The parameter takes effect with the gate off, too. Without it the default is Ignore, or Warn with the gate on. Protobuf has
 * numbers instead of names: there is nothing to report.
 */
import { badRequest } from '@plat-dev/meta/errors';
import { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import { FieldPlace } from '@plat-dev/schema/fields/field-place';
import { anyValue, list, message, opt, string } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { Services } from '../services.ts';
import { type BodyType, unfit } from './expected-body.ts';
import type { WriteOptions } from './parsed-options.ts';

/** Collects the faults of a request; undefined with Ignore. */
export function faultsOf(services: Services, { fieldValidation }: WriteOptions): FieldFaults | undefined {
  if (fieldValidation === 'Ignore') return undefined;
  if (fieldValidation === '' && !services.registry.env.feature('ServerSideFieldValidation')) return undefined;
  return new FieldFaults();
}

/** Warns of faults, or throws the error that `refuse` makes of their message. */
export function reportFaults(ctx: Context, options: WriteOptions, faults: FieldFaults, refuse: (why: string) => Error): void {
  if (faults.empty) return;
  if (options.fieldValidation === 'Strict') throw refuse(faults.message());
  for (const text of faults.warnings()) ctx.warn(text);
}

/** The same for a body that is an object of a type. */
export function reportBodyFaults(ctx: Context, options: WriteOptions, faults: FieldFaults, type: BodyType): void {
  reportFaults(ctx, options, faults, (why) => unfit(type, why, type));
}

/** The same for an apply, whose unknown fields are errors in any case: only repeated keys are reported. */
export function reportAppliedFaults(ctx: Context, options: WriteOptions, faults: FieldFaults): void {
  reportFaults(ctx, options, faults, () =>
    badRequest(`error strict decoding YAML: error converting YAML to JSON: ${faults.yamlMessage()}`),
  );
}

/** Where the text of a patch begins: a JSON patch is a list of operations, others hold any fields, some of them more than once. */
export function patchPlace(json: boolean, faults: FieldFaults): FieldPlace {
  return json ? FieldPlace.root(faults, operations, 'json patch ') : FieldPlace.root(faults, anyValue);
}
const operations = list(
  message('JsonPatchOperation', { op: opt(0, string), path: opt(0, string), from: opt(0, string), value: opt(0, anyValue) }),
);
