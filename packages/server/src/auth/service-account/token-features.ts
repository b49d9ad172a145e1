/** What tokens of service accounts hold and are checked for, by the release of the API and its gates. */
import { isAtLeast } from '@plat-dev/lib/version';

export interface TokenFeatures {
  /** Tokens have an identifier, by which the audit log and users are connected with them. */
  readonly identifiers: boolean;
  /** Tokens of pods name the node on which the pod runs. */
  readonly podNodes: boolean;
  /** Tokens may be bound to nodes. */
  readonly nodeBinding: boolean;
  /** The uid in the metadata of a request is that of the account. */
  readonly accountUid: boolean;
  /** The use of tokens in Secrets is noted, and those that are marked invalid are refused. */
  readonly legacyTracking: boolean;
  /** Clients that use tokens which were made without being asked for are warned. */
  readonly legacyWarnings: boolean;
}

export const noTokenFeatures: TokenFeatures = {
  identifiers: false,
  podNodes: false,
  nodeBinding: false,
  accountUid: false,
  legacyTracking: false,
  legacyWarnings: false,
};

/** A gate that is GA in a release may be gone from later ones: the feature stays. */
export function tokenFeatures(release: string, feature: (gate: string) => boolean): TokenFeatures {
  const has = (gate: string, ga: string): boolean => isAtLeast(release, ga) || feature(gate);
  return {
    identifiers: has('ServiceAccountTokenJTI', '1.32'),
    podNodes: has('ServiceAccountTokenPodNodeInfo', '1.32'),
    nodeBinding: has('ServiceAccountTokenNodeBinding', '1.33'),
    legacyTracking: feature('LegacyServiceAccountTokenTracking'),
    legacyWarnings: feature('LegacyServiceAccountTokenTracking') && isAtLeast(release, '1.27'),
    accountUid: feature('TokenRequestServiceAccountUIDValidation'),
  };
}
