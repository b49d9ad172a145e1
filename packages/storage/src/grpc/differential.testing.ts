/** The client that is written here and that of @grpc/grpc-js, called in one way, so that tests can compare what both make of a server. */
import { Client, credentials, Metadata, type StatusObject, status as statusCodes } from '@grpc/grpc-js';
import { systemClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { Channel } from './channel.ts';
import { type FailureKind, GrpcError } from './status.ts';

/** How a call ended. `message` is there where the server sent it, `kind` where the client written here says what happened. */
export type Outcome = { readonly answer: string } | { readonly code: string; readonly message?: string; readonly kind?: FailureKind };

interface Conversation {
  readonly messages: readonly string[];
  readonly end: Outcome;
}
export interface ComparedClient {
  readonly name: 'own' | 'library';
  call(path: string, request: Buffer, timeoutMs?: number): Promise<Outcome>;
  /** Sends requests, reads until the stream ends or so many messages came, and ends it. */
  talk(path: string, requests: readonly Buffer[], mostMessages?: number): Promise<Conversation>;
  close(): void;
}
export interface ComparedOptions {
  readonly mostRequestBytes?: number;
  readonly mostAnswerBytes?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Longer than any answer takes. */
const LONG_MS = 60_000;
/** Answers are compared byte by byte. */
const shown = (bytes: Buffer): string => bytes.toString('latin1');

export function ownClient(target: string, { metadata = {}, ...limits }: ComparedOptions = {}): ComparedClient {
  const channel = new Channel({ target, clock: systemClock, random: seededRandom(testSeed), metadata: () => metadata, ...limits });
  const failure = (error: unknown): Outcome => {
    if (!(error instanceof GrpcError)) throw error;
    const { kind, code, message } = error;
    return kind === 'status' ? { code, message } : { code, kind };
  };
  return {
    name: 'own',
    call: (path, request, timeoutMs = LONG_MS) =>
      channel.callWhenReady(path, request, timeoutMs).then((answer) => ({ answer: shown(answer) }), failure),
    async talk(path, requests, mostMessages = Number.POSITIVE_INFINITY) {
      channel.connect();
      while (channel.state === 'connecting') await new Promise((resolve) => setImmediate(resolve));
      const messages: string[] = [];
      try {
        const stream = channel.stream(path, shown);
        for (const request of requests) stream.write(request);
        for await (const message of stream) {
          messages.push(message);
          if (messages.length < mostMessages) continue;
          stream.cancel();
          return { messages, end: { code: 'CANCELLED' } };
        }
        return { messages, end: { code: 'OK' } };
      } catch (error) {
        return { messages, end: failure(error) };
      }
    },
    close: () => channel.close(),
  };
}

const same = (bytes: Buffer): Buffer => bytes;

/** Without its retries, of which there are none here either. */
export function libraryClient(target: string, { mostRequestBytes, mostAnswerBytes, metadata = {} }: ComparedOptions = {}): ComparedClient {
  const client = new Client(target, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    ...(mostRequestBytes !== undefined && { 'grpc.max_send_message_length': mostRequestBytes }),
    ...(mostAnswerBytes !== undefined && { 'grpc.max_receive_message_length': mostAnswerBytes }),
  });
  const headers = Metadata.fromHttp2Headers(metadata);
  const failure = ({ code, details }: Pick<StatusObject, 'code' | 'details'>): Outcome => ({
    code: statusCodes[code] ?? String(code),
    message: details,
  });
  return {
    name: 'library',
    call: (path, request, timeoutMs = LONG_MS) =>
      new Promise((resolve) => {
        const options = { deadline: Date.now() + timeoutMs };
        client.makeUnaryRequest(path, same, same, request, headers, options, (error, answer) =>
          resolve(error === null ? { answer: shown(answer as Buffer) } : failure(error)),
        );
      }),
    talk: (path, requests, mostMessages = Number.POSITIVE_INFINITY) =>
      new Promise((resolve) => {
        const stream = client.makeBidiStreamRequest(path, same, same, headers);
        const messages: string[] = [];
        let isCancelled = false;
        stream.on('data', (message: Buffer) => {
          if (isCancelled) return;
          messages.push(shown(message));
          if (messages.length < mostMessages) return;
          isCancelled = true;
          stream.cancel();
        });
        stream.on('error', () => {});
        stream.on('status', (ended: StatusObject) => {
          const isPlain = isCancelled || ended.code === statusCodes.OK;
          resolve({ messages, end: isPlain ? { code: statusCodes[ended.code] } : failure(ended) });
        });
        for (const request of requests) stream.write(request);
      }),
    close: () => client.close(),
  };
}

/** Both outcomes without what only one of them has: the kind, and texts that a client made up. */
export function comparable(own: Outcome, library: Outcome): [Outcome, Outcome] {
  if ('answer' in own || 'answer' in library || own.kind === undefined) return [own, library];
  return [{ code: own.code }, { code: library.code }];
}
