/** The server side of WebSockets: `ws` on connections that an HTTP server has read the handshake of, within bounds. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** A peer that goes beyond one of them loses its connection. */
const bounds = {
  /** Bytes of a message: clients send parts of 32 KiB. */
  maxPayload: 1 << 20,
  /** Parts of a message, empty ones included. */
  maxFragments: 1024,
  /** Pieces in which an incomplete frame arrives. */
  maxBufferedChunks: 4096,
  /** Answers to pings that the peer has not read. */
  maxPendingAutoPongs: 64,
  /** Milliseconds that the peer has to answer the end. */
  closeTimeout: 10_000,
  perMessageDeflate: false,
  /** One message in each turn of the loop, however many come at once: what a message asks for may be work. */
  allowSynchronousEvents: false,
};

export interface Handshake {
  readonly method?: string | undefined;
  readonly headers: Readonly<IncomingHttpHeaders>;
}
export interface Acceptance {
  /** The subprotocol that is chosen of those which the client offers; empty for none. */
  readonly protocol: string;
  /** Further lines of the answer. */
  readonly headers?: readonly string[];
  /** Bytes of a message, where fewer are enough. */
  readonly maxPayload?: number;
}

/**
 * Returns undefined if the handshake is wrong, which has been answered then. Listeners must be added at once: messages begin with
 * the next turn.
 */
export function acceptWebSocket(
  request: Handshake,
  socket: Duplex,
  head: Buffer,
  { protocol, headers = [], maxPayload = bounds.maxPayload }: Acceptance,
): WebSocket | undefined {
  const handleProtocols = (): string | false => protocol || false;
  const server = new WebSocketServer({ noServer: true, clientTracking: false, handleProtocols, ...bounds, maxPayload });
  server.on('headers', (lines) => void lines.push(...headers));
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request as IncomingMessage, socket, head, (webSocket) => {
    accepted = webSocket;
    // The connection closes after an error, which is all that anyone has to know.
    webSocket.on('error', () => {});
  });
  return accepted;
}
