/** The KMS protocol, `v1beta1.KeyManagementService`, over a Unix socket. Loaded only if a configuration names a plug-in. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { Reader, Writer } from '../engines/etcd/wire.ts';
import { Channel } from '../grpc/channel.ts';
import { GrpcError } from '../grpc/status.ts';
import { KMS_VERSION, type KmsTransport, LARGEST_CIPHER } from './kms.ts';

const service = '/v1beta1.KeyManagementService/';
/** A restarted plug-in is reconnected soon. */
const RECONNECT = { shortestMs: 100, longestMs: 1_000 };

export function kmsTransport(socket: string, timeoutMs: number, clock: Clock, random: Random): KmsTransport {
  const channel = new Channel({
    target: `unix:${socket}`,
    mostRequestBytes: LARGEST_CIPHER * 4,
    mostAnswerBytes: LARGEST_CIPHER * 4,
    reconnect: RECONNECT,
    clock,
    random,
  });
  const call = async (method: string, request: Buffer): Promise<Buffer> => {
    try {
      return await channel.callWhenReady(service + method, request, timeoutMs);
    } catch (error) {
      throw error instanceof GrpcError ? new Error(describe(error, timeoutMs)) : error;
    }
  };
  return {
    version: async () => field(await call('Version', message()), 1).toString('utf8'),
    encrypt: async (plain) => field(await call('Encrypt', message(plain)), 1),
    decrypt: async (cipher) => field(await call('Decrypt', message(cipher)), 1),
    close: () => channel.close(),
  };
}

/** `{ version = 1, plain or cipher = 2 }` */
function message(bytes?: Buffer): Buffer {
  const writer = new Writer(32 + (bytes?.length ?? 0));
  if (bytes !== undefined) writer.bytes(2, bytes);
  writer.text(1, KMS_VERSION);
  return writer.finish();
}

/** The bytes of a field of a response; empty when it is absent. */
function field(answer: Buffer, wantedNumber: number): Buffer {
  try {
    const reader = new Reader(answer);
    let fieldBytes: Buffer | undefined;
    for (let number = reader.next(); number !== 0; number = reader.next()) {
      if (number === wantedNumber) fieldBytes = Buffer.from(reader.bytes());
      else reader.skip();
    }
    return fieldBytes ?? Buffer.alloc(0);
  } catch {
    throw new Error('the answer is not a message of the protocol');
  }
}

/** Errors of a plug-in are truncated: they may quote its input. */
function describe({ code, message }: GrpcError, timeoutMs: number): string {
  if (code === 'DEADLINE_EXCEEDED') return `no answer within ${timeoutMs} ms`;
  if (code === 'UNAVAILABLE') return 'it cannot be reached';
  return `${code}: ${message.slice(0, 100)}`;
}
