/** A call with one message as request and one as response. */
import { Call } from './call.ts';
import type { Http2Connection } from './http2/connection.ts';
import { GrpcError } from './status.ts';

export class UnaryCall extends Call {
  readonly #resolve: (answer: Buffer) => void;
  readonly #reject: (error: GrpcError) => void;
  readonly #done: (call: UnaryCall) => void;
  #answer: Buffer | undefined;

  constructor(
    connection: Http2Connection,
    mostBytes: number,
    resolve: (answer: Buffer) => void,
    reject: (error: GrpcError) => void,
    /** Called at the end of the call. */
    done: (call: UnaryCall) => void,
  ) {
    super(connection, mostBytes);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#done = done;
  }

  protected override message(message: Buffer): void {
    if (this.#answer !== undefined) throw new GrpcError('invalid', 'INTERNAL', 'the server sent more than one message');
    this.#answer = message;
  }

  protected override finish(error: GrpcError | undefined): void {
    this.#done(this);
    if (error !== undefined) this.#reject(error);
    else if (this.#answer === undefined) this.#reject(new GrpcError('invalid', 'INTERNAL', 'the server sent no message'));
    else this.#resolve(this.#answer);
  }
}
