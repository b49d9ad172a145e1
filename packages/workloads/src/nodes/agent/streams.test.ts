import { PassThrough } from 'node:stream';
import { commandStatus } from '@plat-dev/meta/errors';
import { plat } from '@plat-dev/meta/identity';
import { acceptedFrom, masked } from '@plat-dev/streams/accept-websocket.testing';
import { expect, test } from 'vitest';
import { addressFor, portTargets } from './port-forward.ts';
import { channelProtocol, decoded, encoded, SocketStreams } from './streams.ts';

const suffixes = ['plat.dev', 'k8s.io'];

test.each([
  ['v4.channel.k8s.io', { name: 'v4.channel.k8s.io', base64: false, structured: true }],
  ['channel.k8s.io, v5.channel.plat.dev', { name: 'v5.channel.plat.dev', base64: false, structured: true }],
  ['v4.base64.channel.k8s.io', { name: 'v4.base64.channel.k8s.io', base64: true, structured: true }],
  ['base64.channel.k8s.io', { name: 'base64.channel.k8s.io', base64: true, structured: false }],
  ['v4.channel.example.com', undefined],
  ['SPDY/3.1+portforward.k8s.io', undefined],
])('the protocol of %s', (offered, expected) => {
  expect(channelProtocol(offered, suffixes)).toEqual(expected);
});

test('channels in binary and in base64', () => {
  for (const base64 of [false, true]) {
    const protocol = { name: '', base64, structured: true };
    expect(decoded(encoded(2, Buffer.from('abc'), protocol), protocol)).toEqual([2, Buffer.from('abc')]);
  }
  expect(encoded(1, Buffer.from('abc'), { name: '', base64: true, structured: true }).toString()).toBe('1YWJj');
});

const connected = (stdin = true) => {
  const protocol = { name: 'v5.channel.k8s.io', base64: false, structured: true };
  const { client, webSocket, bytes } = acceptedFrom(protocol.name);
  const streams = new SocketStreams(webSocket, protocol, { stdin, stdout: true, stderr: true, tty: false });
  return { client, streams, bytes };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('input arrives, also what came early, and its end', async () => {
  const { client, streams } = connected();
  client.write(masked(Buffer.from('\0early')));
  await turn();
  const seen: (string | undefined)[] = [];
  streams.onInput((chunk) => void seen.push(chunk?.toString()));
  client.write(Buffer.concat([masked(Buffer.from('\0late')), masked(Buffer.from([255, 0]))]));
  // Each message has a turn of its own.
  await expect.poll(() => seen).toEqual(['early', 'late', undefined]);
});

test('without input a command is at its end at once', () => {
  const seen: unknown[] = [];
  connected(false).streams.onInput((chunk) => void seen.push(chunk));
  expect(seen).toEqual([undefined]);
});

test('output, errors and how it ended are sent in channels, then the connection is closed', async () => {
  const { client, streams, bytes } = connected();
  await streams.write('out', Buffer.from('o'));
  await streams.write('err', Buffer.from('e'));
  streams.finish(commandStatus(3));
  await turn();
  expect(bytes().subarray(0, 8)).toEqual(Buffer.from([130, 2, 1, 0x6f, 130, 2, 2, 0x65]));
  expect(bytes().toString('latin1')).toContain('{"reason":"ExitCode","message":"3"}');
  expect(bytes().subarray(-4)).toEqual(Buffer.from([136, 2, 3, 232]));
  client.end(masked(Buffer.from([3, 232]), 8));
  for (let i = 0; i < 200 && !streams.signal.aborted; i++) await turn();
  expect(streams.signal.aborted).toBe(true);
});

test('a client that breaks off ends the command', async () => {
  const { client, streams } = connected();
  client.destroy();
  for (let i = 0; i < 200 && !streams.signal.aborted; i++) await turn();
  expect(streams.signal.aborted).toBe(true);
});

test.each([
  ['80=127.0.0.1:9090', 80, { host: '127.0.0.1', port: 9090 }],
  ['1=127.0.0.1:1, 80=[::1]:90', 80, { host: '::1', port: 90 }],
  ['80=localhost:90', 80, { host: '127.0.0.1', port: 90 }],
  ['80=127.0.0.1:90', 81, undefined],
  ['80=127.0.0.1:70000', 80, undefined],
  ['80=example.com:90', 80, undefined],
  ['80', 80, undefined],
])('the annotation %s leads port %s to %o', (text, port, expected) => {
  expect(addressFor(text, port)).toEqual(expected);
});

const NOTE = 'simulation.plat.dev/port-forward';
/** `annotations` of a pod and of its namespace. */
const targets = (annotations: Record<string, string>, ofNamespace = {}, allowLocal = false) =>
  portTargets(
    { identity: plat, pod: { metadata: { name: 'p', namespace: 'ns', uid: 'u', annotations } }, ofNamespace },
    { allowLocal, listens: (port) => port === 8080 },
  );

test('ports lead to local addresses only where that is allowed, and to no others', () => {
  const to = (address: string) => ({ [NOTE]: `80=${address}` });
  expect(() => targets(to('127.0.0.1:9')).open(80)).toThrow('forwards to no local addresses');
  expect(() => targets(to('10.0.0.1:9'), {}, true).open(80)).toThrow('no loopback address');
  expect(targets(to('127.0.0.1:9')).local(81)).toBeUndefined();
});

test('an annotation of the namespace leads the ports of its pods, unless a pod has its own', () => {
  const ofNamespace = { [NOTE]: '80=10.0.0.1:9' };
  expect(() => targets({}, ofNamespace).open(80)).toThrow('10.0.0.1, which is no loopback address');
  expect(() => targets({ [NOTE]: '80=10.0.0.2:9' }, ofNamespace).open(80)).toThrow('10.0.0.2, which is no loopback address');
});

test('a port on which something listens echoes, and one on which nothing does is refused', () => {
  expect(targets({}).open(8080)).toBeInstanceOf(PassThrough);
  expect(() => targets({}).open(81)).toThrow(
    'error forwarding port 81 to pod p_ns, uid u: dial tcp4 127.0.0.1:81: connect: connection refused',
  );
});
