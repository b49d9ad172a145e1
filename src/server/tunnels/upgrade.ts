/**
 * Upgrade requests run through the same pipeline as all others. They get a response object of their own, from which
 * a handler may take the connection; if none does, they are answered like any request and the connection ends.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BODY_LIMIT } from '../body.ts';
import type { Incoming, Outgoing } from '../context.ts';

/** A connection that may be taken over. */
export interface Upgrade {
  /** The protocol that the client requests. */
  readonly protocol: string;
  /** Bytes that arrived right behind the request. */
  readonly head: Buffer;
  /**
   * Takes the connection; undefined if it is closed. From then on nothing is sent over HTTP, and the request ends when
   * the connection does.
   */
  take(): Socket | undefined;
}

export type Handle = (req: Incoming, res: Outgoing, upgrade?: Upgrade) => void;

/** `bearerProtocol` is the prefix of the WebSocket subprotocol in which browsers send a token, for lack of a header. */
export function upgradeHandler(handle: Handle, bearerProtocol: string): (req: IncomingMessage, socket: Socket, head: Buffer) => void {
  return (req, socket, head) => {
    socket.on('error', () => socket.destroy());
    const length = Number(req.headers['content-length'] ?? 0);
    if (req.headers['transfer-encoding'] !== undefined || !(length >= 0 && length <= BODY_LIMIT)) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    adoptToken(req, bearerProtocol);
    if (length === 0) run(handle, req, socket, head);
    else run(handle, new UpgradeBody(req, socket, head, length), socket, Buffer.alloc(0));
  };
}

function run(handle: Handle, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  let taken = false;
  res.once('finish', () => {
    res.detachSocket(socket);
    // Further data of the client is read and dropped, so that closing does not truncate the response.
    socket.resume();
    socket.destroySoon();
  });
  // A response emits its end; an upgraded connection emits it the same way.
  socket.once('close', () => res.emit('close'));
  handle(req, res, {
    protocol: req.headers.upgrade ?? '',
    head,
    take: () => {
      if (taken || res.headersSent || socket.destroyed) return undefined;
      taken = true;
      res.detachSocket(socket);
      // A late response must not be written into a connection that is no longer HTTP.
      res.destroyed = true;
      return socket;
    },
  });
}

/**
 * A request with a body that the parser leaves alone because it is an upgrade. The body is read from the connection
 * on demand, which is after authentication: until then it waits at the client. Such a connection is never
 * taken over, so that data after the body is not used.
 */
class UpgradeBody extends IncomingMessage {
  private readonly from: Socket;
  private head: Buffer;
  private left: number;
  private begun = false;

  constructor(req: IncomingMessage, socket: Socket, head: Buffer, length: number) {
    super(socket);
    const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = req;
    Object.assign(this, { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
    this.from = socket;
    this.head = head;
    this.left = length;
    socket.pause();
  }

  override _read(): void {
    if (this.begun) {
      if (this.left > 0) this.from.resume();
      return;
    }
    this.begun = true;
    const { head } = this;
    this.head = Buffer.alloc(0);
    this.from.once('close', () => this.destroy());
    if (head.length > 0) this.accept(head);
    if (this.left > 0) this.from.on('data', this.accept).resume();
  }

  private readonly accept = (chunk: Buffer): void => {
    const part = chunk.length > this.left ? chunk.subarray(0, this.left) : chunk;
    this.left -= part.length;
    const more = this.push(part);
    if (this.left > 0) {
      if (!more) this.from.pause();
      return;
    }
    this.from.off('data', this.accept);
    this.complete = true;
    this.push(null);
  };
}

/**
 * A script in a browser cannot set headers on a WebSocket. It sends the token as one of the subprotocols, in base64url,
 * which is removed so that it is not forwarded.
 */
function adoptToken(req: IncomingMessage, prefix: string): void {
  const offered = req.headers['sec-websocket-protocol'];
  if (offered === undefined || !offered.includes(prefix)) return;
  const all = offered.split(',').map((name) => name.trim());
  const tokens = all.filter((name) => name.startsWith(prefix));
  const rest = all.filter((name) => !name.startsWith(prefix)).join(', ');
  const raw = req.rawHeaders.flatMap((text, i, list) => {
    const at = i - (i % 2);
    const isOffer = (list[at] as string).toLowerCase() === 'sec-websocket-protocol';
    return isOffer ? [] : [text];
  });
  if (rest === '') delete req.headers['sec-websocket-protocol'];
  else req.headers['sec-websocket-protocol'] = rest;
  req.rawHeaders = rest === '' ? raw : [...raw, 'Sec-WebSocket-Protocol', rest];
  // Two tokens, or a token in addition to the header, are left to the authenticator to refuse.
  for (const name of tokens) {
    const value = `Bearer ${Buffer.from(name.slice(prefix.length), 'base64url').toString('utf8')}`;
    req.headers.authorization ??= value;
    req.rawHeaders.push('Authorization', value);
  }
}
