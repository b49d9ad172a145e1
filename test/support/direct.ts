/**
 * Requests to a server of this process without a connection: sockets, TLS and the parsing of HTTP take most of the processor time of
 * a usual request. The server authenticates, authorizes, admits and answers them like those of any client.
 */
import { Readable } from 'node:stream';
import { errorFrom } from '../../packages/client/src/http.ts';
import type { Incoming, Outgoing } from '../../packages/server/src/exchange.ts';
import { InProcessIncoming, InProcessOutgoing, inProcess, OpenAnswers } from '../../packages/server/src/in-process.ts';
import type { Handle } from '../../packages/server/src/tunnels/upgrade.ts';
import type { OpenAnswer } from './client.ts';

export interface DirectRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export class DirectRequests {
  private readonly handle: Handle;
  private readonly answers = new OpenAnswers();

  constructor(handle: Handle) {
    this.handle = handle;
  }

  /** Resolves with the whole answer. */
  async send(request: DirectRequest): Promise<{ status: number; headers: OpenAnswer['headers']; bytes: Buffer }> {
    const { status, headers, body } = await inProcess(this.handle, undefined, errorFrom, this.answers).request(request);
    return { status, headers: headersOf(headers), bytes: body };
  }

  /** Resolves with the head of the answer. */
  open(request: DirectRequest): Promise<OpenAnswer> {
    return new Promise((resolve, reject) => {
      let more: (() => void) | undefined;
      const read = (): void => {
        more?.();
        more = undefined;
      };
      const body = new Readable({ read });
      const outgoing = new InProcessOutgoing((chunk) => {
        if (body.destroyed || body.push(chunk)) return undefined;
        return new Promise<void>((goOn) => {
          more = goOn;
        });
      });
      outgoing.onHead = () =>
        resolve({
          status: outgoing.statusCode,
          headers: headersOf(outgoing.headers),
          body,
          destroy: () => {
            outgoing.destroy();
            abort(body);
          },
        });
      const incoming = new InProcessIncoming(request, undefined);
      outgoing.once('error', () => {});
      outgoing.once('finish', () => body.push(null));
      outgoing.once('close', () => {
        incoming.destroy();
        if (outgoing.writableFinished) return;
        if (outgoing.headersSent) abort(body);
        else reject(new Error('the server aborted the response'));
      });
      this.answers.add(outgoing);
      this.handle(incoming as unknown as Incoming, outgoing as unknown as Outgoing);
    });
  }

  /** Ends the requests in progress. */
  close(): void {
    this.answers.end();
  }
}

/** Ends a body before its end: as with Node's client, with an error for those who listen for it. */
function abort(body: Readable): void {
  body.destroy(body.listenerCount('error') > 0 ? new Error('aborted') : undefined);
}

/** As Node's client shows them: by their names in lower case, several of one name joined. */
function headersOf(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = (flat[i] as string).toLowerCase();
    headers[name] = headers[name] === undefined ? String(flat[i + 1]) : `${headers[name]}, ${flat[i + 1]}`;
  }
  return headers;
}
