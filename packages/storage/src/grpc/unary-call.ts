/** A call with one message as request and one as response. */
import { Call } from './call.ts';
import type { Http2Connection } from './http2/connection.ts';
import { GrpcError } from './status.ts';

export class UnaryCall<Answer> extends Call {
  readonly #decode: (answer: Buffer) => Answer;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #done: (call: Call) => void;
  #answer: Buffer | undefined;

  constructor(
    connection: Http2Connection,
    mostBytes: number,
    decode: (answer: Buffer) => Answer,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
    /** Called at the end of the call. */
    done: (call: Call) => void,
  ) {
    super(connection, mostBytes);
    this.#decode = decode;
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
    else this.#resolveWith(this.#answer);
  }

  #resolveWith(answer: Buffer): void {
    let decoded: Answer;
    try {
      decoded = this.#decode(answer);
    } catch (error) {
      this.#reject(error);
      return;
    }
    this.#resolve(decoded);
  }
}
