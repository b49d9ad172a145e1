/** The transport of Node: HTTPS, with certificates, proxies and credentials that are renewed. */
import { ANSWER_MS, BODY_LIMIT, errorFrom, type Http, TransportError } from './http.ts';
import { readAll, type Transport } from './transport.ts';

/** The transport over HTTPS. Streams take one connection each, so its limit must allow as many as there are watches. */
export function httpOver(transport: Pick<Transport, 'open'>): Http {
  return {
    async request(request) {
      const answer = await transport.open({ ...request, timeout: ANSWER_MS });
      try {
        return { status: answer.status, body: await readAll(answer.body, BODY_LIMIT) };
      } catch (error) {
        throw new TransportError(`the answer broke off: ${(error as Error).message}`, 'ECONNRESET', error);
      }
    },
    async stream(request, sink) {
      const answer = await transport.open(request);
      if (answer.status !== 200) throw errorFrom(answer.status, await readAll(answer.body, BODY_LIMIT));
      const { body } = answer;
      let closed = false;
      const end = (error?: Error): void => {
        if (closed) return;
        closed = true;
        sink.end(error);
      };
      body.on('data', (chunk: Buffer) => {
        if (!closed) sink.data(chunk);
      });
      body.once('end', () => end());
      body.once('error', end);
      body.once('close', () => end());
      // Its last event may have been before anybody listened.
      if (body.destroyed) end();
      return {
        close: () => {
          closed = true;
          body.destroy();
        },
      };
    },
  };
}
