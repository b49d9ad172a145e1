/** Bodies of another kind or version than the path's: their errors. Loaded with the first one. */

import { homeOf, registeredKindOf } from '@plat-dev/kinds/registered-kinds';
import { whyBodyNotServed } from '@plat-dev/kinds/release-texts';
import { apiRelease } from '@plat-dev/lib/version';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { type ApiError, badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { otherIdentityHint } from '@plat-dev/meta/identity';
import { type BodyType, type Expected, unfit } from './expected-body.ts';

/** `name` is that of the object. */
export function wrongType(type: BodyType, expected: Expected, name: string): ApiError {
  const { kind, apiVersion } = type;
  const { schema, identity, release = apiRelease } = expected;
  if (expected.anyVersion)
    return badRequest(`the body must be ${expected.kind}, not ${JSON.stringify(kind)} of version ${JSON.stringify(apiVersion)}`);
  const wrongVersion = (): ApiError => {
    const why = expected.custom ? undefined : whyBodyNotServed(apiVersion, kind, identity, release);
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})${why === undefined ? '' : `: ${why}`}`,
    );
  };
  if (expected.custom) {
    return apiVersion === expected.apiVersion ? otherCustomKind(type, expected, name) : wrongVersion();
  }
  const registeredKind = registeredKindOf(apiVersion, kind, schema, identity, release);
  if (registeredKind === undefined) {
    const hint = otherIdentityHint(identity, groupOfApiVersion(apiVersion), (group) => group === groupOfApiVersion(expected.apiVersion));
    return unfit(
      type,
      `no kind "${kind}" is registered for version "${apiVersion}"; send ${expected.kind} of version ${expected.apiVersion}${hint === undefined ? '' : ` (${hint})`}`,
      expected,
    );
  }
  const home = homeOf(schema);
  return registeredKind.home === home
    ? wrongVersion()
    : unfit(type, `converting (${registeredKind.type}) to (${home}): unknown conversion`, expected);
}

/** Custom objects of all kinds are read alike, so that only the rules for them notice that one is not what it should be. */
export function otherCustomKind({ kind, apiVersion }: BodyType, expected: BodyType, name: string): ApiError {
  const errors = new FieldErrors();
  if (kind !== expected.kind) errors.invalid(Path.of('kind'), kind, `must be ${expected.kind}`);
  if (apiVersion !== expected.apiVersion) errors.invalid(Path.of('apiVersion'), apiVersion, `must be ${expected.apiVersion}`);
  return invalid({ group: groupOfApiVersion(apiVersion), resource: kind }, name, errors.list);
}
