/**
 * Calls to an available endpoint of etcd.
 *
 * One endpoint is preferred until it fails; then the next connected one takes its place. A read is retried, at
 * another endpoint if there is one, until its deadline. A write is sent at most once: it is retried only when it
 * is certain that nothing was done. The number of concurrent calls is bounded by the callers, who limit their requests.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { Channel } from '../../grpc/channel.ts';
import type { MessageStream } from '../../grpc/message-stream.ts';
import { GrpcError } from '../../grpc/status.ts';
import { CallFailure, CLOSED, failureOf } from './errors.ts';
import type { Login } from './login.ts';
import type { Method } from './messages.ts';
import { type Address, CHANNEL_OPTIONS, LARGEST_ANSWER, METADATA } from './options.ts';

export interface Endpoint {
  readonly name: string;
  readonly channel: Channel;
}

/** While there is no connection, endpoints are retried at least this often; each delays its own attempts. */
const LOOK_MS = 20;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A read that hangs at one of several endpoints leaves time to try another. */
const SHARE_OF_TIME = 1 / 3;

export interface ConnectionOptions {
  /** Timeout of one call, including waiting for a connection. */
  readonly timeoutMs: number;
  readonly mostAnswerBytes?: number | undefined;
  /** Who calls are made as; absent: as the client certificate says, or nobody. */
  readonly login?: Login | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

export class Connection {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #endpoints: readonly Endpoint[];
  readonly #login: Login | undefined;
  readonly #sleepers = new Set<() => void>();
  #preferred = 0;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(addresses: readonly Address[], { timeoutMs, mostAnswerBytes = LARGEST_ANSWER, login, clock, random }: ConnectionOptions) {
    this.timeoutMs = timeoutMs;
    this.#login = login;
    this.#clock = clock;
    this.#random = random;
    const changed = (): void => this.#wakeLooking();
    const metadata = (): Readonly<Record<string, string>> => login?.metadata ?? METADATA;
    this.#endpoints = addresses.map(({ name, target, secureContext }) => ({
      name,
      channel: new Channel({ ...CHANNEL_OPTIONS, mostAnswerBytes, target, secureContext, clock, random, changed, metadata }),
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
        return await this.#call(endpoint, method, request, Math.min(deadline, this.deadline(share)));
      } catch (error) {
        const failure = this.#failureOf(error);
        const { reason } = failure;
        if (reason === 'unauthenticated' && this.#login !== undefined) this.loggedOut();
        else if (reason !== 'unavailable' && reason !== 'unreachable' && reason !== 'no-leader') throw failure;
        else this.avoid(endpoint);
        await this.#pause(attempt, deadline, failure);
      }
    }
  }

  /** A call that must not be repeated. `trace`: the header `traceparent`. */
  async write<Response>(method: Method<Response>, request: Buffer, trace?: string): Promise<Response> {
    const deadline = this.deadline();
    for (let attempt = 0; ; attempt++) {
      const endpoint = this.#usable() ?? (await this.ready(deadline));
      try {
        return await this.#call(endpoint, method, request, deadline, trace);
      } catch (error) {
        const failure = this.#failureOf(error);
        const { reason, mayHaveHappened } = failure;
        if (mayHaveHappened) this.avoid(endpoint);
        if (reason === 'unauthenticated' && this.#login !== undefined) this.loggedOut();
        else if (reason !== 'unreachable' && reason !== 'no-leader') throw failure;
        else this.avoid(endpoint);
        await this.#pause(attempt, deadline, failure);
      }
    }
  }

  /** One call to one endpoint. Rejects with CallFailure. */
  async callOn<Response>(endpoint: Endpoint, method: Method<Response>, request: Buffer, deadline: number): Promise<Response> {
    try {
      return await this.#call(endpoint, method, request, deadline);
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** Rejects, or throws, with what `#failureOf` makes a CallFailure. */
  #call<Response>({ channel }: Endpoint, method: Method<Response>, request: Buffer, deadline: number, trace?: string): Promise<Response> {
    if (this.#closed) throw closed();
    return channel.call(method.path, request, Math.max(1, deadline - this.#clock.now()), method.decode, trace);
  }

  #failureOf(error: unknown): CallFailure {
    if (error instanceof CallFailure) return error;
    if (this.#closed) return closed(true);
    if (error instanceof GrpcError) return failureOf(error);
    return new CallFailure('unavailable', `the answer of etcd makes no sense: ${(error as Error).message}`, true);
  }

  /** Throws CallFailure. */
  stream<Response>({ channel }: Endpoint, method: Method<Response | undefined>): MessageStream<Response> {
    if (this.#closed) throw closed();
    try {
      return channel.stream(method.path, method.decode);
    } catch (error) {
      throw error instanceof GrpcError ? failureOf(error) : error;
    }
  }

  /** A connected endpoint, the preferred one if possible, with a user who is logged in. Rejects when there is none until the deadline. */
  async ready(deadline: number): Promise<Endpoint> {
    let failure: CallFailure | undefined;
    for (;;) {
      const endpoint = this.#connected();
      if (endpoint !== undefined && this.#login?.isCurrent !== false) return endpoint;
      if (this.#clock.now() >= deadline) throw failure ?? this.#unreachable();
      if (endpoint !== undefined) {
        failure = await this.#logIn(endpoint, deadline);
        continue;
      }
      this.#looking ??= this.#look();
      await this.#looking;
    }
  }

  /** Etcd did not accept the token: the next call begins with a new one. */
  loggedOut(): void {
    this.#login?.refused();
  }
  /** Returns why that failed, if another try may succeed, and throws what no other try can change. */
  async #logIn(endpoint: Endpoint, deadline: number): Promise<CallFailure | undefined> {
    try {
      await this.#login?.renew((method, request) =>
        this.callOn(endpoint, method, request, Math.min(deadline, this.deadline(this.timeoutMs * SHARE_OF_TIME))),
      );
      return undefined;
    } catch (error) {
      const failure = this.#failureOf(error);
      if (failure.reason === 'refused' || failure.reason === 'closed') throw failure;
      this.avoid(endpoint);
      await this.sleep(LOOK_MS);
      return failure;
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
    for (const wake of [...this.#sleepers]) wake();
    for (const { channel } of this.#endpoints) channel.close();
  }

  /** An endpoint that a call can be made to at once. */
  #usable(): Endpoint | undefined {
    return this.#login?.isCurrent === false ? undefined : this.#connected();
  }
  #connected(): Endpoint | undefined {
    if (this.#closed) throw closed();
    const preferred = this.#endpoints[this.#preferred] as Endpoint;
    if (preferred.channel.state === 'ready') return preferred;
    const count = this.#endpoints.length;
    let connectedIndex: number | undefined;
    for (let offset = 0; offset < count; offset++) {
      const index = (this.#preferred + offset) % count;
      const { channel } = this.#endpoints[index] as Endpoint;
      // All connect, so that they are ready to take over.
      channel.connect();
      if (channel.state === 'ready') connectedIndex ??= index;
    }
    if (connectedIndex === undefined) return undefined;
    this.#preferred = connectedIndex;
    return this.#endpoints[connectedIndex];
  }

  /** Waits until the state of an endpoint changes, and not for long. */
  #look(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#sleepers.delete(wake);
        this.#looking = undefined;
        this.#wakeLooking = () => {};
        resolve();
      };
      const cancel = this.#clock.after(LOOK_MS, wake, true);
      this.#sleepers.add(wake);
      this.#wakeLooking = wake;
    });
  }
  #wakeLooking: () => void = () => {};

  #unreachable(): CallFailure {
    const names = this.#endpoints.map(({ name }) => name).join(', ');
    const { problem } = (this.#endpoints[this.#preferred] as Endpoint).channel;
    return new CallFailure('unreachable', `etcd cannot be reached at ${names}: ${problem}: is it running there?`, false);
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
