/**
 * A server for each test of a suite. The common state is set up once; each test gets a copy, which is closed after the test.
 *
 *   const onServer = withServer({ setUp: (server) => install(server) });
 *   test('…', onServer(async (server) => { … }));
 *
 *   before the tests   start → setUp → snapshot → the first server is closed
 *   a test             fork → test → close, whether the test passed, failed or timed out
 *   after the tests    open servers are closed: those of tests that never returned
 */
import type { TestServerOptions } from '../options.ts';
import { startTestServer } from '../server.ts';
import type { Snapshot, TestServer } from '../test-server.ts';
import { setTimeoutOf } from './eventually.ts';
import { explainFailure } from './explain-failure.ts';

export interface WithServerOptions extends TestServerOptions {
  /** Prepares the server, once. Every test starts with its state. */
  readonly setUp?: ((server: TestServer) => unknown) | undefined;
  /** Default timeout of `toEventuallyHave` and the other waits: `10s`, or milliseconds. Default: 4,500. */
  readonly eventuallyTimeout?: string | number | undefined;
}

/** Makes a test function from a function that needs a server. The arguments of the runner come after the server. */
export type OnServer = <Arguments extends unknown[] = []>(
  test: (server: TestServer, ...context: Arguments) => unknown,
) => (...context: Arguments) => Promise<void>;

/** The hooks of a runner. */
export interface SuiteHooks {
  beforeAll(call: () => Promise<void>): unknown;
  afterAll(call: () => Promise<void>): unknown;
}

export function onServerWith(hooks: SuiteHooks, options: WithServerOptions = {}): OnServer {
  const suite = new ServerSuite(options);
  hooks.beforeAll(() => suite.prepare());
  hooks.afterAll(() => suite.close());
  return (test) =>
    // Without parameters of its own: Jest would wait for a callback that is never called.
    (...context) =>
      suite.run((server) => test(server, ...context), signalOf(context[0]));
}

class ServerSuite {
  private readonly options: WithServerOptions;
  private readonly open = new Set<TestServer>();
  private prepared: Promise<Snapshot> | undefined;
  private closed = false;

  constructor(options: WithServerOptions) {
    this.options = options;
  }
  /** Resolves when tests can begin. */
  async prepare(): Promise<void> {
    this.prepared ??= this.setUp();
    await this.prepared;
  }
  /** Runs a test with a server of its own. A signal that is aborted ends the server while the test runs. */
  async run(test: (server: TestServer) => unknown, signal?: AbortSignal): Promise<void> {
    this.prepared ??= this.setUp();
    const snapshot = await this.prepared;
    const server = await this.keep(snapshot.fork());
    const giveUp = (): void => void this.end(server);
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      await test(server);
    } catch (error) {
      throw await explainFailure(error, server);
    } finally {
      signal?.removeEventListener('abort', giveUp);
      await this.end(server);
    }
  }
  /** Closes every open server, and those that are starting as soon as they have started. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.open].map((server) => this.end(server)));
  }

  private async setUp(): Promise<Snapshot> {
    const { setUp, eventuallyTimeout: _, ...options } = this.options;
    const server = await this.keep(startTestServer(options));
    try {
      await setUp?.(server);
      return await server.snapshot();
    } catch (error) {
      throw await explainFailure(error, server);
    } finally {
      await this.end(server);
    }
  }
  /** A runner may have given up on the suite before its server has started. */
  private async keep(starting: Promise<TestServer>): Promise<TestServer> {
    const server = await starting;
    this.open.add(server);
    const { eventuallyTimeout } = this.options;
    if (eventuallyTimeout !== undefined) setTimeoutOf(server, eventuallyTimeout);
    if (!this.closed) return server;
    await this.end(server);
    throw new Error('the server of these tests was closed');
  }
  private async end(server: TestServer): Promise<void> {
    this.open.delete(server);
    await server.close();
  }
}

/** vitest and node:test pass each test a signal that is aborted when the test times out. */
function signalOf(context: unknown): AbortSignal | undefined {
  const signal = (context as { signal?: unknown } | null | undefined)?.signal;
  return signal instanceof EventTarget && 'aborted' in signal ? (signal as AbortSignal) : undefined;
}
