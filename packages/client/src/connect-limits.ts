/** How long a host may be silent before a connection to it is given up. */
import type { Socket } from 'node:net';

/** In milliseconds. */
export interface ConnectLimits {
  readonly connect: number;
  readonly handshake: number;
}
/** Those of the stock client. */
export const connectLimits: ConnectLimits = { connect: 30_000, handshake: 10_000 };

/** Ends a connection to a host that is silent before it is there. */
export function limited<S extends Socket>(socket: S, { connect, handshake }: ConnectLimits, isSecure: boolean): S {
  let phase = '';
  const limit = (millis: number, what: string): void => {
    socket.setTimeout(millis);
    phase = what;
  };
  const silent = (): void => void socket.destroy(Object.assign(new Error(`${phase} timed out`), { code: 'ETIMEDOUT' }));
  const ready = (): void => {
    socket.off('timeout', silent);
    socket.setTimeout(0);
  };
  socket.on('timeout', silent);
  limit(connect, 'the connection');
  socket.once('connect', isSecure ? () => limit(handshake, 'the TLS handshake') : ready);
  if (isSecure) socket.once('secureConnect', ready);
  return socket;
}
