/** What programs that embed the server, or talk to one, may use. */
export { type ClientConfig, loadConfig } from './client/config.ts';
export { connectionOf } from './client/connection.ts';
export type { Connection } from './client/connection-settings.ts';
export { Transport } from './client/transport.ts';
export { type RunningServer, type Surroundings, startServer } from './compose/server.ts';
export { parseServerFlags, type ServerOptions, serverOptions } from './config/server-options.ts';
export type { Clock } from './lib/clock.ts';
export type { Log, LogFields } from './lib/log.ts';
export type { Random } from './lib/random.ts';
export { apiRelease, productVersion } from './lib/version.ts';
export { ApiError, type Status } from './meta/errors.ts';
export { type Identity, kubernetes, plat } from './meta/identity.ts';
