/** The KMS protocol, `v1beta1.KeyManagementService` and `v2.KeyManagementService`, over a Unix socket. Loaded only if a configuration names a plug-in. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { Reader, Writer } from '../engines/etcd/wire.ts';
import { Channel } from '../grpc/channel.ts';
import { GrpcError } from '../grpc/status.ts';
import { KMS_VERSION, type KmsTransport, LARGEST_CIPHER } from './kms.ts';
import { readSeed, writeSeed } from './seed-envelope.ts';

const services = { v1: '/v1beta1.KeyManagementService/', v2: '/v2.KeyManagementService/' } as const;
/** A restarted plug-in is reconnected soon. */
const RECONNECT = { shortestMs: 100, longestMs: 1_000 };

/** `version`: of the protocol. */
export function kmsTransport(socket: string, timeoutMs: number, clock: Clock, random: Random, version: 'v1' | 'v2' = 'v1'): KmsTransport {
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
      return await channel.callWhenReady(services[version] + method, request, timeoutMs);
    } catch (error) {
      throw error instanceof GrpcError ? new Error(describe(error, timeoutMs)) : error;
    }
  };
  if (version === 'v2') return secondVersion(call, random, () => channel.close());
  return {
    version: async () => field(await call('Version', message()), 1).toString('utf8'),
    encrypt: async (plain) => field(await call('Encrypt', message(plain)), 1),
    decrypt: async (cipher) => field(await call('Decrypt', message(cipher)), 1),
    close: () => channel.close(),
  };
}

/**
 * Version v2. What a plug-in answers when it encrypts is more than the encrypted bytes, and it wants all of it again to decrypt: here both
 * are one text, that of a stored value (`seed-envelope.ts`).
 */
function secondVersion(call: (method: string, request: Buffer) => Promise<Buffer>, random: Random, close: () => void): KmsTransport {
  const status = async (): Promise<Buffer> => {
    const answer = await call('Status', Buffer.alloc(0));
    const health = field(answer, 2).toString('utf8');
    if (health !== 'ok') throw new Error(`it is not healthy: ${health.slice(0, 100)}`);
    return answer;
  };
  return {
    version: async () => field(await status(), 1).toString('utf8'),
    keyId: async () => named(field(await status(), 3).toString('utf8')),
    async encrypt(plain) {
      const request = new Writer(64 + plain.length);
      request.text(2, random.uuid());
      request.bytes(1, plain);
      const answer = await call('Encrypt', request.finish());
      const keyId = named(field(answer, 2).toString('utf8'));
      const cipher = field(answer, 1);
      return cipher.length === 0 ? cipher : writeSeed({ keyId, cipher, notes: fields(answer, 3) });
    },
    async decrypt(sealed) {
      const { keyId, cipher, notes } = readSeed(sealed);
      const request = new Writer(128 + sealed.length);
      for (const note of notes.toReversed()) request.bytes(4, note);
      request.bytes(3, Buffer.from(keyId));
      request.text(2, random.uuid());
      request.bytes(1, cipher);
      return field(await call('Decrypt', request.finish()), 1);
    },
    close,
  };
}
/** Longest identifier of a key, as in stock servers. */
const LONGEST_KEY_ID = 1024;
function named(keyId: string): string {
  if (keyId === '' || Buffer.byteLength(keyId) > LONGEST_KEY_ID) throw new Error('it names no key, or with too long a name');
  return keyId;
}

/** `{ version = 1, plain or cipher = 2 }` */
function message(bytes?: Buffer): Buffer {
  const writer = new Writer(32 + (bytes?.length ?? 0));
  if (bytes !== undefined) writer.bytes(2, bytes);
  writer.text(1, KMS_VERSION);
  return writer.finish();
}

/** The bytes of a field of a response; empty when it is absent. */
const field = (answer: Buffer, wantedNumber: number): Buffer => fields(answer, wantedNumber).at(-1) ?? Buffer.alloc(0);
/** Those of a field that may be there several times. */
function fields(answer: Buffer, wantedNumber: number): Buffer[] {
  try {
    const reader = new Reader(answer);
    const found: Buffer[] = [];
    for (let number = reader.next(); number !== 0; number = reader.next()) {
      if (number === wantedNumber) found.push(Buffer.from(reader.bytes()));
      else reader.skip();
    }
    return found;
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
