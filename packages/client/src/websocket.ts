/** WebSockets to an API server: `ws` with the connections and credentials of a transport. */
import { WebSocket } from 'ws';
import type { Answer, Transport } from './transport.ts';

/** A server that goes beyond one of them loses the connection. */
const bounds = {
  /** Bytes of a message. */
  maxPayload: 16 << 20,
  /** Parts of a message, empty ones included. */
  maxFragments: 4096,
  /** Pieces in which an incomplete frame arrives. */
  maxBufferedChunks: 65_536,
  /** Answers to pings that the server has not read. */
  maxPendingAutoPongs: 64,
  /** Milliseconds that the server has to answer the end: a command waits for it. */
  closeTimeout: 2000,
  perMessageDeflate: false,
};
/** Milliseconds until the server has switched protocols: it may have to reach a node first, for which it takes 30 seconds at most. */
const HANDSHAKE_MS = 60_000;

export interface SocketRequest {
  readonly path: string;
  readonly protocols: readonly string[];
  readonly signal?: AbortSignal;
}
export interface SocketEvents {
  message(payload: Buffer): void;
  /** Called once, with the error of the connection, if any. */
  close(error?: Error): void;
}

/** Throws ApiError if the server refuses. */
export function openWebSocket(
  transport: Pick<Transport, 'handshake'>,
  { path, protocols, signal }: SocketRequest,
  events: SocketEvents,
): Promise<WebSocket> {
  return transport.handshake(
    { path, timeout: HANDSHAKE_MS, ...(signal !== undefined && { signal }) },
    ({ url, agent, headers, follow }) => {
      const finishRequest = (request: Parameters<typeof follow>[0]): void => {
        follow(request);
        request.end();
      };
      const socket = new WebSocket(url, [...protocols], { ...bounds, agent, headers, finishRequest });
      return new Promise<WebSocket | Answer>((resolve, reject) => {
        let failure: Error | undefined;
        socket.on('error', (error) => {
          failure = error;
          reject(error);
        });
        socket.on('unexpected-response', (_request, response) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
        );
        socket.on('open', () => {
          socket.on('close', () => events.close(failure));
          resolve(socket);
        });
        socket.on('message', (payload) => events.message(payload as Buffer));
      });
    },
  );
}
