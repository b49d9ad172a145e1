import { expect, test } from 'vitest';
import { listenUrls } from './etcd.ts';

const hrefs = (...args: string[]): string[] => listenUrls(args).map(({ href }) => href);

test('the client URLs of the command line; other flags have no effect', () => {
  expect(hrefs()).toEqual(['http://localhost:2379/']);
  expect(hrefs('--data-dir=/d', '--listen-client-urls=http://127.0.0.1:1,http://[::1]:2', '--unsafe-no-fsync')).toEqual([
    'http://127.0.0.1:1/',
    'http://[::1]:2/',
  ]);
  expect(hrefs('--listen-client-urls', 'http://127.0.0.1:1')).toEqual(['http://127.0.0.1:1/']);
});

test('URLs that cannot be served are refused', () => {
  expect(() => hrefs('--listen-client-urls=https://127.0.0.1:1')).toThrow('only http is served');
  expect(() => hrefs('--listen-client-urls=127.0.0.1')).toThrow('is not a URL');
});
