import type { KindVersion } from '@plat-dev/kinds/kind';
import type { ApiRelease } from '@plat-dev/lib/version';
import { versionOfApiVersion } from '@plat-dev/meta/api-version';
import { type ApiError, badRequest } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';

/** What a body says it is. */
export interface BodyType {
  readonly kind: string;
  readonly apiVersion: string;
}

export interface Expected extends BodyType {
  readonly schema: MessageType;
  readonly identity: Identity;
  /** Of the API: it says why a version is not served. */
  readonly release?: ApiRelease | undefined;
  readonly custom?: boolean | undefined;
  /** Other versions with the same fields, which are read as this one. */
  readonly older?: readonly string[] | undefined;
  /** The kind is the same in the versions of all groups, known or not: options are. */
  readonly anyVersion?: boolean | undefined;
  readonly unknownFields?: KindVersion['unknownFields'];
}

/** Refuses a body whose kind is not the one of the path. */
export function unfit({ kind, apiVersion }: BodyType, why: string, expected: BodyType): ApiError {
  const version = versionOfApiVersion(apiVersion);
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${expected.kind}: ${why}`);
}
