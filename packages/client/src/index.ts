/**
 * A client for API servers. Nothing here needs more than web globals: `fetch`, streams, timers. What only Node has, such as
 * configuration files and client certificates, is in `@plat-dev/client/node`.
 */
export { ApiError } from '@plat-dev/meta/errors';
export { type ConnectedClient, type ConnectOptions, connect } from './connect.ts';
export type { FetchTarget } from './fetch-http.ts';
export { type Http, isConflict, isNotFound, TransportError } from './http.ts';
export type { AnyObject, Draft, Informer, List, ResourceClient, Watch, WatchEvent } from './typed/types.ts';
