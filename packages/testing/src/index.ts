/** The kit for tests: `import { startTestServer } from '@plat-dev/plat/testing'`. */

export type {
  AnyObject,
  Draft,
  DynamicClient,
  Informer,
  List,
  ResourceClient,
  Watch,
  WatchEvent,
} from '@plat-dev/client/typed/types';
export { FakeClock } from '@plat-dev/lib/clock';
export type { ApiRelease } from '@plat-dev/lib/version';
export { ApiError, type Status } from '@plat-dev/meta/errors';
export type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
export type { ClientOptions, TestClient, WaitCondition, WaitOptions } from './client/types.ts';
export { WaitTimeout } from './client/wait.ts';
export type { ClockChoice, TestClock } from './clock.ts';
export type { Fault, FaultPattern, Faults, RefusedWith } from './faults.ts';
export type { Kubeconfig } from './kubeconfig.ts';
export type { ManifestObject, Manifests, TestServerOptions } from './options.ts';
export type { RequestPattern } from './pattern.ts';
export type { ObjectChange, ObjectReference, RequestList, SeenPattern, SeenRequest } from './requests.ts';
export { startTestServer } from './server.ts';
export type { ForkOptions, Snapshot, TestServer } from './test-server.ts';
export type { AskedAccess, AskedAction, Explained, Why, WriteChoice, WrittenObject } from './why.ts';
