/** Errors about secrets: servers repeat the value that they refuse, which may be the whole secret. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { ApiError } from '@plat-dev/meta/errors';

export const isSecrets = ({ group, name }: Pick<ApiResource, 'group' | 'name'>): boolean => group === '' && name === 'secrets';

/** `Invalid value: "…": must be …` */
const repeated = /(\bvalue: )"(?:[^"\\]|\\.)*"/g;
export const maskedText = (text: string): string => text.replace(repeated, '$1"***"');

/** For `catch`. */
export function throwMasked(error: unknown): never {
  throw error instanceof ApiError ? maskedError(error) : error;
}
export function maskedError(error: ApiError): ApiError {
  const { code, reason, message, details } = error;
  const causes = details?.causes?.map((cause) => (cause.message === undefined ? cause : { ...cause, message: maskedText(cause.message) }));
  return new ApiError(code, reason, maskedText(message), causes === undefined ? details : { ...details, causes });
}
