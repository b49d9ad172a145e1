/**
 * Calls to an available endpoint of etcd.
 *
 * One endpoint is preferred until it fails; then the next connected one takes its place. A read is retried, at
 * another endpoint if there is one, until its deadline. A write is sent at most once: it is retried only when it
 * is certain that nothing was done. The number of concurrent calls is bounded by the callers, who limit their requests.
 */
import { type ChannelInterface, Client, type ClientDuplexStream, connectivityState, Metadata, status } from '@grpc/grpc-js';
import type { Cancel, Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
import { CallFailure, CLOSED, failureOf } from './errors.ts';
import { EMPTY_REQUEST, type Method, memberStatus } from './messages.ts';
import type { Address } from './options.ts';

export interface Endpoint {
  readonly name: string;
  readonly client: Client;
}

/** How often connections are checked while there is none. */
const LOOK_MS = 20;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A read that hangs at one of several endpoints leaves time to try another. */
const SHARE_OF_TIME = 1 / 3;

type Call = ReturnType<ChannelInterface['createCall']>;

const ignore = (): void => {};
const same = (bytes: Buffer): Buffer => bytes;
/** A member without a leader fails at once, and ends streams, instead of letting them hang. */
const METADATA = new Metadata();
METADATA.set('hasleader', 'true');

export interface ConnectionOptions {
  /** Timeout of one call, including waiting for a connection. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

export class Connection {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #endpoints: readonly Endpoint[];
  readonly #calls = new Set<Call>();
  readonly #sleepers = new Set<() => void>();
  #preferred = 0;
  #looking: Promise<void> | undefined;
  #closed = false;

  /** `clock` must agree with the machine's, by which gRPC measures deadlines. */
  constructor(addresses: readonly Address[], { timeoutMs, clock, random }: ConnectionOptions) {
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#random = random;
    this.#endpoints = addresses.map(({ name, target, credentials, channelOptions }) => ({
      name,
      client: new Client(target, credentials, channelOptions),
    }));
  }

  /** The deadline of a call that begins now. */
  deadline(timeoutMs = this.timeoutMs): number {
    return this.#clock.now() + timeoutMs;
  }

  /** A call that may be repeated. */
  async read<Response>(method: Method<Response>, request: Buffer, timeoutMs = this.timeoutMs): Promise<Response> {
    const deadline = this.deadline(timeoutMs);
    const share = this.#endpoints.length > 1 ? timeoutMs * SHARE_OF_TIME : timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const endpoint = await this.ready(deadline);
      try {
        return await this.callOn(endpoint, method, request, Math.min(deadline, this.deadline(share)));
      } catch (error) {
        const { reason } = error as CallFailure;
        if (reason !== 'unavailable' && reason !== 'unreachable' && reason !== 'no-leader') throw error;
        this.avoid(endpoint);
        await this.#pause(attempt, deadline, error as CallFailure);
      }
    }
  }

  /** A call that must not be repeated. */
  async write<Response>(method: Method<Response>, request: Buffer): Promise<Response> {
    const deadline = this.deadline();
    for (let attempt = 0; ; attempt++) {
      const endpoint = this.#connected() ?? (await this.ready(deadline));
      try {
        return await this.callOn(endpoint, method, request, deadline);
      } catch (error) {
        const { reason, mayHaveHappened } = error as CallFailure;
        if (mayHaveHappened) this.avoid(endpoint);
        if (reason !== 'unreachable' && reason !== 'no-leader') throw error;
        this.avoid(endpoint);
        await this.#pause(attempt, deadline, error as CallFailure);
      }
    }
  }

  /**
   * One call to one endpoint. It uses the channel itself: the client around it makes one a third more expensive, with layers
   * for interceptors and the like that are not used here.
   */
  callOn<Response>(endpoint: Endpoint, method: Method<Response>, request: Buffer, deadline: number): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closed());
      const call = endpoint.client.getChannel().createCall(method.path, deadline, null, null, null);
      let answer: Buffer | undefined;
      this.#calls.add(call);
      call.start(METADATA, {
        onReceiveMetadata: ignore,
        onReceiveMessage: (message: Buffer) => {
          answer = message;
        },
        onReceiveStatus: (end) => {
          this.#calls.delete(call);
          if (end.code !== status.OK) return reject(this.#closed ? closed(true) : failureOf(end));
          try {
            resolve(method.decode(answer ?? EMPTY_REQUEST));
          } catch (error) {
            reject(new CallFailure('unavailable', `the answer of etcd makes no sense: ${(error as Error).message}`, true));
          }
        },
      });
      call.sendMessageWithContext({}, request);
      call.startRead();
      call.halfClose();
    });
  }

  stream<Response>(endpoint: Endpoint, method: Method<Response>): ClientDuplexStream<Buffer, Response> {
    if (this.#closed) throw closed();
    return endpoint.client.makeBidiStreamRequest(method.path, same, method.decode, METADATA, {});
  }

  /** A connected endpoint, the preferred one if possible. Rejects when there is none until the deadline. */
  async ready(deadline: number): Promise<Endpoint> {
    for (;;) {
      const endpoint = this.#connected();
      if (endpoint !== undefined) return endpoint;
      if (this.#clock.now() >= deadline) throw await this.#unreachable();
      this.#looking ??= this.sleep(LOOK_MS).finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
  }

  /** Prefers another endpoint from now on. */
  avoid(endpoint: Endpoint): void {
    if (this.#endpoints[this.#preferred] === endpoint) this.#preferred = (this.#preferred + 1) % this.#endpoints.length;
  }

  /** Waits, unless the connection is closed before. Keeps the process alive, since a call depends on it. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#sleepers.delete(wake);
        resolve();
      };
      const cancel = this.#clock.after(milliseconds, wake, true);
      this.#sleepers.add(wake);
    });
  }

  /** Calls once after so many milliseconds; keeps the process alive until then. */
  after(milliseconds: number, call: () => void): Cancel {
    return this.#clock.after(milliseconds, call, true);
  }

  /** Backoff before the next of several tries: longer each time, and random. */
  pauseAfter(attempt: number): number {
    return Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(attempt, 10)) * (0.5 + this.#random.float() / 2);
  }

  close(): void {
    this.#closed = true;
    for (const call of [...this.#calls]) call.cancelWithStatus(status.CANCELLED, CLOSED);
    for (const wake of [...this.#sleepers]) wake();
    for (const { client } of this.#endpoints) client.close();
  }

  #connected(): Endpoint | undefined {
    if (this.#closed) throw closed();
    const preferred = this.#endpoints[this.#preferred] as Endpoint;
    if (preferred.client.getChannel().getConnectivityState(false) === connectivityState.READY) return preferred;
    const count = this.#endpoints.length;
    let found: number | undefined;
    for (let offset = 0; offset < count; offset++) {
      const index = (this.#preferred + offset) % count;
      // Reading the state makes an idle channel connect, so that all become ready to take over.
      const state = (this.#endpoints[index] as Endpoint).client.getChannel().getConnectivityState(true);
      if (state === connectivityState.READY) found ??= index;
    }
    if (found === undefined) return undefined;
    this.#preferred = found;
    return this.#endpoints[found];
  }

  /** A call without a connection fails at once, with the reason why there is none. */
  async #unreachable(): Promise<CallFailure> {
    const names = this.#endpoints.map(({ name }) => name).join(', ');
    const call = this.callOn(this.#endpoints[this.#preferred] as Endpoint, memberStatus, EMPTY_REQUEST, this.deadline(LOOK_MS));
    const why = await call.then(
      () => '',
      (failure: CallFailure) => `: ${connectionError(failure.message)}`,
    );
    return new CallFailure('unreachable', `etcd cannot be reached at ${names}${why}: is it running there?`, false);
  }

  async #pause(attempt: number, deadline: number, failure: CallFailure): Promise<void> {
    const pause = this.pauseAfter(Math.floor(attempt / this.#endpoints.length));
    if (this.deadline(pause) >= deadline) throw failure;
    // The first round goes from endpoint to endpoint without delay.
    if (attempt + 1 >= this.#endpoints.length) await this.sleep(pause);
  }
}

function closed(underWay = false): CallFailure {
  return new CallFailure('closed', CLOSED, underWay);
}

/** `No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ` → `connect ECONNREFUSED 127.0.0.1:1` */
export const connectionError = (message: string): string =>
  /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note: ?$/.exec(message)?.[1] ?? message;
