/** The KMS protocol, `v1beta1.KeyManagementService`, over a Unix socket. Loaded only if a configuration names a plug-in. */
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { Clock } from '../../lib/clock.ts';
import { Reader, Writer } from '../engines/etcd/wire.ts';
import { KMS_VERSION, type KmsTransport, LARGEST_CIPHER } from './kms.ts';

const service = '/v1beta1.KeyManagementService/';
const same = (bytes: Buffer): Buffer => bytes;
/** A restarted plug-in is reconnected soon. */
const reconnect = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.min_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1000 };

export function kmsTransport(socket: string, timeoutMs: number, clock: Clock): KmsTransport {
  const client = new Client(`unix://${socket}`, credentials.createInsecure(), {
    ...reconnect,
    'grpc.max_receive_message_length': LARGEST_CIPHER * 4,
    'grpc.default_authority': 'localhost',
  });
  const call = (method: string, request: Buffer): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const options = { deadline: clock.now() + timeoutMs };
      client.makeUnaryRequest(service + method, same, same, request, new Metadata(), options, (error, answer) => {
        if (error !== null) reject(new Error(describe(error.code, error.details, timeoutMs)));
        else resolve(answer ?? Buffer.alloc(0));
      });
    });
  return {
    version: async () => field(await call('Version', message()), 1).toString('utf8'),
    encrypt: async (plain) => field(await call('Encrypt', message(plain)), 1),
    decrypt: async (cipher) => field(await call('Decrypt', message(cipher)), 1),
    close: () => client.close(),
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
function field(answer: Buffer, wanted: number): Buffer {
  try {
    const reader = new Reader(answer);
    let found: Buffer | undefined;
    for (let number = reader.next(); number !== 0; number = reader.next()) {
      if (number === wanted) found = Buffer.from(reader.bytes());
      else reader.skip();
    }
    return found ?? Buffer.alloc(0);
  } catch {
    throw new Error('the answer is not a message of the protocol');
  }
}

/** Errors of a plug-in are truncated: they may quote its input. */
function describe(code: status, details: string, timeoutMs: number): string {
  if (code === status.DEADLINE_EXCEEDED) return `no answer within ${timeoutMs} ms`;
  if (code === status.UNAVAILABLE) return 'it cannot be reached';
  return `${status[code] ?? code}: ${details.slice(0, 100)}`;
}
