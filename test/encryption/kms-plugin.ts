/**
 * A KMS plug-in for tests, on a Unix socket: `v1beta1.KeyManagementService`, spoken by definitions of its own rather than
 * those of the server. It encrypts by AES-GCM under a key of its own, and misbehaves when it is told to.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

export type Behaviour = 'well' | 'hangs' | 'refuses' | 'lies' | 'babbles';

export class KmsPlugin {
  readonly socket = join(temporaryDirectory('plat-kms'), 'kms.sock');
  behaviour: Behaviour = 'well';
  calls = 0;
  /** What version v2 says of itself. */
  health = 'ok';
  keyId = 'key-1';
  readonly #key = randomBytes(32);
  #server: Server | undefined;

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  async start(): Promise<this> {
    const server = new Server();
    const method = (name: string, answer: (request: Buffer) => Buffer, version = 'v1beta1') => ({
      [`${version}.${name}`]: {
        path: `/${version}.KeyManagementService/${name}`,
        requestStream: false as const,
        responseStream: false as const,
        requestSerialize: (bytes: Buffer) => bytes,
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
        handler: (call: ServerUnaryCall<Buffer, Buffer>, send: sendUnaryData<Buffer>) => this.#handle(() => answer(call.request), send),
      },
    });
    const methods = {
      ...method('Version', () =>
        Buffer.concat([field(1, Buffer.from('v1beta1')), field(2, Buffer.from('test')), field(3, Buffer.from('1'))]),
      ),
      ...method('Encrypt', (request) => field(1, this.#seal(read(request, 2)))),
      ...method('Decrypt', (request) => field(1, this.behaviour === 'lies' ? randomBytes(32) : this.#open(read(request, 2)))),
      ...method('Status', () => Buffer.concat(['v2', this.health, this.keyId].map((text, i) => field(i + 1, Buffer.from(text)))), 'v2'),
      ...method(
        'Encrypt',
        (request) => Buffer.concat([field(1, this.#seal(read(request, 1))), field(2, Buffer.from(this.keyId)), field(3, this.#note())]),
        'v2',
      ),
      ...method('Decrypt', (request) => this.#decryptNoted(request), 'v2'),
    };
    server.addService(methods, Object.fromEntries(Object.entries(methods).map(([name, { handler }]) => [name, handler])));
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
    );
    this.#server = server;
    return this;
  }

  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    rmSync(this.socket, { force: true });
  }

  #handle(answer: () => Buffer, send: sendUnaryData<Buffer>): void {
    this.calls++;
    if (this.behaviour === 'hangs') return;
    if (this.behaviour === 'refuses') send({ code: status.PERMISSION_DENIED, details: 'not today' });
    else send(null, this.behaviour === 'babbles' ? Buffer.from([0xff, 0xff, 0xff]) : answer());
  }
  /** An entry of a map: what the plug-in wants to see again. */
  #note(): Buffer {
    return Buffer.concat([field(1, Buffer.from('note.example.com')), field(2, Buffer.from(`of ${this.keyId}`))]);
  }
  #decryptNoted(request: Buffer): Buffer {
    if (read(read(request, 4), 2).toString() !== `of ${read(request, 3).toString()}`) throw new Error('the note is missing');
    return field(1, this.#open(read(request, 1)));
  }
  #seal(plain: Buffer): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }
  #open(sealed: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  }
}

/** A field of bytes, shorter than 16 KiB. */
function field(number: number, bytes: Buffer): Buffer {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}
function read(message: Buffer, wanted: number): Buffer {
  for (let at = 0; at < message.length; ) {
    const number = (message[at++] as number) >> 3;
    let length = message[at++] as number;
    if (length > 127) length = (length & 127) + (message[at++] as number) * 128;
    if (number === wanted) return message.subarray(at, at + length);
    at += length;
  }
  return Buffer.alloc(0);
}
