/** What programs that embed the server, or talk to one, may use. */
export { type ClientConfig, loadConfig } from '@plat-dev/client/config';
export { connectionOf } from '@plat-dev/client/connection';
export type { Connection } from '@plat-dev/client/connection-settings';
export { Transport } from '@plat-dev/client/transport';
export type { Clock } from '@plat-dev/lib/clock';
export type { Log, LogFields } from '@plat-dev/lib/log';
export type { Random } from '@plat-dev/lib/random';
export { apiRelease, productVersion } from '@plat-dev/lib/version';
export { ApiError, type Status } from '@plat-dev/meta/errors';
export { type Identity, kubernetes, plat } from '@plat-dev/meta/identity';
export { parseServerFlags, type ServerOptions, serverOptions } from './config/server-options.ts';
export { type RunningServer, type Surroundings, startServer } from './server.ts';
