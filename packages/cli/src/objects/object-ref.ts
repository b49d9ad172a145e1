import type { ApiResource } from '@plat-dev/client/discovery';

/** One object of the server. */
export interface ObjectRef {
  readonly resource: ApiResource;
  /** Undefined for objects without one. */
  readonly namespace: string | undefined;
  readonly name: string;
}
