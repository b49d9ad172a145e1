/** Bodies of another kind or version than the path's: what is said of them. Loaded with the first one. */
import { homeOf, registered, schemeName } from '../kinds/registered.ts';
import { type ApiError, badRequest } from '../meta/errors.ts';
import { type BodyType, type Expected, unfit } from './body.ts';

export function wrongType(type: BodyType, expected: Expected): ApiError {
  const { kind, apiVersion } = type;
  const { schema, identity } = expected;
  const wrongVersion = (): ApiError =>
    badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`);
  if (expected.custom) {
    if (apiVersion !== expected.apiVersion) return wrongVersion();
    return unfit(type, `the path holds objects of kind ${expected.kind}`, expected);
  }
  const known = registered(apiVersion, kind, schema, identity);
  if (known === undefined) {
    const scheme = schemeName(schema, identity);
    return unfit(type, `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`, expected);
  }
  const home = homeOf(schema);
  return known.home === home ? wrongVersion() : unfit(type, `converting (${known.type}) to (${home}): unknown conversion`, expected);
}
