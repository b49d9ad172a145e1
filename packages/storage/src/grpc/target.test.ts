import { expect, test } from 'vitest';
import { parseTarget } from './target.ts';

test('addresses over TCP, with the name that the certificate must have', () => {
  expect(parseTarget('a.example:2379')).toEqual({
    address: { host: 'a.example', port: 2379 },
    authority: 'a.example:2379',
    serverName: 'a.example',
  });
  expect(parseTarget('dns:127.0.0.1:1')).toEqual({
    address: { host: '127.0.0.1', port: 1 },
    authority: '127.0.0.1:1',
    serverName: undefined,
  });
  expect(parseTarget('dns:[::1]:3')).toEqual({ address: { host: '::1', port: 3 }, authority: '[::1]:3', serverName: undefined });
  expect(parseTarget('dns:///b:65535').address).toEqual({ host: 'b', port: 65_535 });
  expect(parseTarget('c').address).toEqual({ host: 'c', port: 443 });
});

test('Unix sockets', () => {
  for (const target of ['unix:/run/a.sock', 'unix:///run/a.sock'])
    expect(parseTarget(target)).toEqual({ address: { path: '/run/a.sock' }, authority: 'localhost', serverName: undefined });
});

test('other texts are refused', () => {
  for (const target of ['', 'unix:', ':1', 'a:b', 'a:65536', 'http://a:1', 'a:1/path', '[a]:1', 'a b:1', '::1:5'])
    expect(() => parseTarget(target), target).toThrow(TypeError);
});
