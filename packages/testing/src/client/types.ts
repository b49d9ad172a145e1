/** The types of the client of a test server. */
import type { AnyObject, NamedObject, TypedClient } from '@plat-dev/client/typed/types';

/** How a client asks. */
export interface ClientOptions {
  /** Objects, lists and watches of built-in kinds in the binary form (protobuf), as clients in Go ask for them; default: JSON. */
  readonly binary?: boolean;
}

/**
 * What to wait for: the name of a condition that is to be True (`Ready`), a goal as `kubectl wait --for` has it
 * (`condition=Ready=False`, `jsonpath={.status.phase}=Running`, `delete`, `create`), a JSON path (`{.status.phase}=Running`), or
 * a function of the object, which is undefined while there is none.
 */
export type WaitCondition<T> = string | ((object: T | undefined) => boolean);
export interface WaitOptions {
  /** `30s`, `5m`, or milliseconds, on the server's clock. Default: 30s. */
  readonly timeout?: string | number | undefined;
}

export interface TestClient extends TypedClient {
  /** Resolves with the object (undefined when it is gone) as soon as the condition holds; rejects with WaitTimeout, which shows the last state. */
  waitFor<T extends NamedObject>(
    object: T,
    condition: WaitCondition<T & AnyObject>,
    options?: WaitOptions,
  ): Promise<(T & AnyObject) | undefined>;
}
