/** Calls to services elsewhere, with their own certificates: bounded in time, in size and in number; no redirects. */
import http from 'node:http';
import https from 'node:https';

/** Where a service is and how to speak to it. PEM texts, not paths. */
export interface Remote {
  readonly server: string;
  /** Absent: the roots of the host. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly serverName?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** The service did not answer, or not as it must. The text holds no secret. */
export class OutboundError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OutboundError';
  }
}

export interface OutboundLimits {
  readonly timeoutMillis: number;
  readonly maxBytes: number;
  /** Calls under way at once; one more is refused. */
  readonly maxCalls: number;
}
const usualLimits: OutboundLimits = { timeoutMillis: 30_000, maxBytes: 4 << 20, maxCalls: 256 };

export class Outbound {
  private readonly remote: Remote;
  private readonly limits: OutboundLimits;
  private readonly agent: http.Agent;
  private calls = 0;

  constructor(remote: Remote, limits: Partial<OutboundLimits> = {}) {
    const url = new URL(remote.server);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new OutboundError(`cannot call ${url.protocol}//`);
    this.remote = remote;
    this.limits = { ...usualLimits, ...limits };
    const sockets = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8 };
    this.agent =
      url.protocol === 'http:'
        ? new http.Agent(sockets)
        : new https.Agent({
            ...sockets,
            minVersion: 'TLSv1.2',
            ...(remote.ca !== undefined && { ca: remote.ca }),
            ...(remote.certificate !== undefined && { cert: remote.certificate }),
            ...(remote.key !== undefined && { key: remote.key }),
            ...(remote.serverName !== undefined && remote.serverName !== '' && { servername: remote.serverName }),
            rejectUnauthorized: remote.insecure !== true,
          });
  }

  get(url = this.remote.server): Promise<Answer> {
    return this.call('GET', url, undefined);
  }
  postJson(value: unknown, url = this.remote.server): Promise<Answer> {
    return this.call('POST', url, JSON.stringify(value));
  }
  /** JSON that is text already. */
  postText(json: string, url = this.remote.server): Promise<Answer> {
    return this.call('POST', url, json);
  }
  close(): void {
    this.agent.destroy();
  }

  private async call(method: string, url: string, body: string | undefined): Promise<Answer> {
    if (this.calls >= this.limits.maxCalls) throw new OutboundError('too many calls are under way');
    this.calls++;
    try {
      return await this.send(method, new URL(url), body);
    } finally {
      this.calls--;
    }
  }

  private send(method: string, url: URL, body: string | undefined): Promise<Answer> {
    const { promise, resolve, reject } = deferred<Answer>();
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    if (this.remote.authorization !== undefined) headers.authorization = this.remote.authorization;
    const request = (url.protocol === 'http:' ? http : https).request(url, { method, headers, agent: this.agent });
    const timer = setTimeout(() => request.destroy(new OutboundError('no answer in time')), this.limits.timeoutMillis);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error instanceof OutboundError ? error : new OutboundError(error.message));
    };
    request.on('error', fail);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > this.limits.maxBytes) request.destroy(new OutboundError('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('aborted', () => fail(new OutboundError('the answer was cut off')));
      response.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    request.end(body);
    return promise;
  }
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
