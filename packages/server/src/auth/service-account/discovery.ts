/** The documents by which other parties verify this server's tokens. */
import type { KeyObject } from 'node:crypto';
import { algorithmFor, keyIdOf, toJwk } from '@plat-dev/pki/jwt';

export interface IssuerDocuments {
  /** `/.well-known/openid-configuration`, `application/json`. */
  readonly configuration: string;
  /** `/openid/v1/jwks`, `application/jwk-set+json`. */
  readonly keys: string;
}
export const configurationPath = '/.well-known/openid-configuration';
export const keysPath = '/openid/v1/jwks';

/** Whether the issuer is an https URL: otherwise its documents cannot be found. */
export function hasDocuments(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const url = new URL(issuer);
  return url.protocol === 'https:' && url.search === '' && url.hash === '';
}

/** For an issuer with documents. `jwksURI` if the keys are served elsewhere. */
export function issuerDocuments(issuer: string, publicKeys: readonly KeyObject[], jwksURI?: string): IssuerDocuments {
  const distinct = [...new Map(publicKeys.map((key) => [keyIdOf(key), key])).values()];
  const algorithms = [...new Set(distinct.map(algorithmFor))].sort();
  const configuration = {
    issuer,
    jwks_uri: jwksURI ?? `${issuer.replace(/\/$/, '')}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: algorithms,
  };
  return { configuration: JSON.stringify(configuration), keys: JSON.stringify({ keys: distinct.map(toJwk) }) };
}
