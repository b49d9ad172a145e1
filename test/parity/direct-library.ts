/** What the runner uses of Node's `https`, for a server of this process and without a connection (`../support/direct.ts`). */
import type { Readable } from 'node:stream';
import type { Handle } from '../../packages/server/src/tunnels/upgrade.ts';
import type { OpenAnswer } from '../support/client.ts';
import { DirectRequests } from '../support/direct.ts';

interface Options {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
}
type Response = Readable & { statusCode: number; headers: OpenAnswer['headers'] };

export interface DirectLibrary {
  readonly Agent: new () => { destroy(): void };
  request(url: string, options: Options, answered: (response: Response) => void): DirectClientRequest;
}

export function directLibrary(handle: Handle): DirectLibrary {
  const requests = new DirectRequests(handle);
  return {
    Agent: class {
      destroy(): void {}
    },
    request: (url, options, answered) => new DirectClientRequest(requests, new URL(url), options, answered),
  };
}

class DirectClientRequest {
  private readonly begin: (body: Buffer | undefined) => Promise<OpenAnswer>;
  private readonly answered: (response: Response) => void;
  private failed: (error: unknown) => void = () => {};
  private answer: OpenAnswer | undefined;

  constructor(requests: DirectRequests, { pathname, search }: URL, { method, headers }: Options, answered: (response: Response) => void) {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    this.begin = (body) => requests.open({ method, path: `${pathname}${search}`, headers: texts, ...(body !== undefined && { body }) });
    this.answered = answered;
  }
  /** The tests have a limit of their own. */
  setTimeout(): void {}
  on(event: string, listener: (error: unknown) => void): void {
    if (event === 'error') this.failed = listener;
  }
  end(body: Buffer | undefined): void {
    this.begin(body).then(
      (answer) => {
        this.answer = answer;
        this.answered(Object.assign(answer.body, { statusCode: answer.status, headers: answer.headers }));
      },
      (error: unknown) => this.failed(error),
    );
  }
  destroy(): void {
    this.answer?.destroy();
  }
}
