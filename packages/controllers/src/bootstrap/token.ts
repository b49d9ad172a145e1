/** Bootstrap tokens that may sign. */
import { bootstrapTokenExpiry, bootstrapTokenOf, type TokenSecret, tokenField } from '@plat-dev/kinds/core/bootstrap-token';

export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

/** The token if it may sign at this time. */
export function signingToken(secret: TokenSecret, now: number): SigningToken | undefined {
  if (secret.metadata.deletionTimestamp !== undefined || now >= bootstrapTokenExpiry(secret)) return undefined;
  return tokenField(secret, 'usage-bootstrap-signing') === 'true' ? bootstrapTokenOf(secret) : undefined;
}
