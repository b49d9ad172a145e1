/** The gateway of the console, for a server on its own port and for `plat console` on a port of this machine. */
export type { ApiCall, Backend, WatchAnswer, WatchCall } from './backend.ts';
export { safetyHeaders } from './exchange.ts';
export { Gateway } from './gateway.ts';
export type { OpenIdFlow } from './openid-flow.ts';
