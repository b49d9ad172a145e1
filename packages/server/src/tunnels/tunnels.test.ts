import { expect, test } from 'vitest';
import { Context } from '../context.ts';
import { authorityOf } from '../http-client/connect.ts';
import { answerHeaders, credentialHeaders, requestHeaders } from './headers.ts';
import { rewriteLocation } from './proxy-path.ts';
import { isProxyable, portNumber, proxyAddress, splitName } from './target.ts';

test.each([
  ['web', { scheme: '', name: 'web', port: '' }],
  ['web:', { scheme: '', name: 'web', port: '' }],
  ['web:80', { scheme: '', name: 'web', port: '80' }],
  ['https:web:', { scheme: 'https', name: 'web', port: '' }],
  ['http:web:admin', { scheme: 'http', name: 'web', port: 'admin' }],
  [':web:1', { scheme: '', name: 'web', port: '1' }],
  ['ftp:web:1', undefined],
  ['HTTPS:web:1', undefined],
  ['a:b:c:d', undefined],
  [':80', undefined],
  ['', undefined],
])('the name %s', (text, expected) => {
  expect(splitName(text)).toEqual(expected);
});

test('ports', () => {
  expect(['1', '65535', '0', '65536', '-1', '1e3', ' 1', ''].map(portNumber)).toEqual([1, 65535, ...Array(6).fill(undefined)]);
});

test.each([
  ['10.0.0.1', true],
  ['192.168.1.1', true],
  ['8.8.8.8', true],
  ['fd00::1', true],
  ['2001:db8::1', true],
  ['::ffff:10.0.0.1', true],
  ['127.0.0.1', false],
  ['127.8.8.8', false],
  ['0.0.0.0', false],
  ['169.254.169.254', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::', false],
  ['::127.0.0.1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:169.254.169.254', false],
  ['fe80::1', false],
  ['febf::1', false],
  ['ff02::1', false],
  ['localhost', false],
  ['0177.0.0.1', true],
  ['2130706433', false],
  ['', false],
])('whether clients may be led to %s: %s', (address, allowed) => {
  expect(isProxyable(address)).toBe(allowed);
});

test('an address is dialled in its canonical form, so that no resolver reads it as another', () => {
  expect(proxyAddress('0177.0.0.1')).toBe('177.0.0.1');
  expect(proxyAddress('0:0::FFFF:10.0.0.1')).toBe('10.0.0.1');
  expect(proxyAddress('127.0.0.1')).toBeUndefined();
  expect(proxyAddress('127.0.0.1', true)).toBe('127.0.0.1');
  expect(proxyAddress('localhost', true)).toBeUndefined();
});

test('addresses with their port', () => {
  expect(authorityOf({ host: 'fd00::1', port: 1 })).toBe('[fd00::1]:1');
  expect(authorityOf({ host: 'n1', port: 1 })).toBe('n1:1');
});

const contextOf = (rawHeaders: string[]): Context => {
  const headers = Object.fromEntries(
    Array.from({ length: rawHeaders.length / 2 }, (_, i) => [(rawHeaders[2 * i] as string).toLowerCase(), rawHeaders[2 * i + 1]]),
  );
  const socket = { remoteAddress: '::ffff:10.0.0.9', encrypted: true };
  return new Context({ url: '/', method: 'GET', httpVersionMajor: 1, headers, rawHeaders, socket } as never, {} as never, 0);
};
const options = { isCredential: credentialHeaders(['X-Vouched-User', 'x-vouched-extra-']) };

test('what proves or claims an identity stays here, under whatever name it goes', () => {
  const raw = [
    'Authorization',
    'Bearer x',
    'AUTHORIZATION',
    'y',
    'Impersonate-User',
    'a',
    'Impersonate-Extra-b',
    'c',
    'X-Remote-Group',
    'g',
    'X-Vouched-User',
    'v',
    'X-Vouched-Extra-a',
    'w',
    'X-Plain',
    'p',
  ];
  expect(requestHeaders(contextOf(raw), options)).toEqual(['X-Plain', 'p', 'X-Forwarded-For', '10.0.0.9']);
});

test('headers of one hop are dropped, those that Connection names included, but never the host', () => {
  const raw = [
    'Host',
    'h',
    'Connection',
    'close, X-One, host',
    'Connection',
    'x-two',
    'X-One',
    '1',
    'X-Two',
    '2',
    'TE',
    'trailers',
    'Upgrade',
    'h2c',
    'X-Three',
    '3',
    'X-Three',
    '4',
  ];
  expect(requestHeaders(contextOf(raw), options)).toEqual(['Host', 'h', 'X-Three', '3', 'X-Three', '4', 'X-Forwarded-For', '10.0.0.9']);
  expect(
    answerHeaders(['Connection', 'x-a', 'X-A', '1', 'Transfer-Encoding', 'chunked', 'X-B', '2', 'Access-Control-Allow-Origin', '*']),
  ).toEqual(['X-B', '2']);
});

test('what the client asks for of this connection alone goes no further', () => {
  const raw = ['Host', 'h', 'Connection', 'keep-alive, Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'k'];
  expect(requestHeaders(contextOf(raw), options)).toEqual(['Host', 'h', 'Sec-WebSocket-Key', 'k', 'X-Forwarded-For', '10.0.0.9']);
});

test.each([
  ['/a', '/p/a'],
  ['/', '/p/'],
  ['', ''],
  ['a/b', 'a/b'],
  ['?q', '?q'],
  ['http://10.0.0.7:80/a?b#c', '/p/a?b#c'],
  ['http://10.0.0.7:80', '/p/'],
  ['//10.0.0.7:80/a', '/p/a'],
  ['//evil.example/a', '//evil.example/a'],
  ['https://api/a', '/p/a'],
  ['/p/a', '/p/a'],
  ['/pa', '/p/pa'],
])('a redirect to %s leads to %s', (location, expected) => {
  expect(rewriteLocation(location, '/p', ['10.0.0.7:80', 'api', undefined])).toBe(expected);
});
