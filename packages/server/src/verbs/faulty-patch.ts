import { type ApiError, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';

/** The refusal of a patch that makes something else than an object of the kind. */
export function faultyPatch(body: Buffer, why: string): ApiError {
  const errors = new FieldErrors();
  errors.invalid(Path.of('patch'), body.toString('utf8', 0, 4096), why);
  return invalid({ group: '', resource: '' }, '', errors.list);
}
