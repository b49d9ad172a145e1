import { systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { openLog } from '@plat-dev/lib/log';
import { expect, test } from 'vitest';
import type { Context } from './context.ts';
import { bodyOutline, keepBodies, logRequests } from './request-log.ts';

const outline = (value: unknown): string => bodyOutline(Buffer.from(jsonText(value)));

test('an outline has names, types and lengths, and no value but kind and version', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db' },
    stringData: { password: 'hunter22' },
    n: 1,
    b: true,
    no: null,
  };
  expect(outline(secret)).toBe(
    '{apiVersion:"v1",b:boolean,kind:"Secret",metadata:{name:string(2)},n:number,no:null,stringData:{password:string(8)}}',
  );
  expect(outline([{ op: 'add', path: '/a', value: 'x' }, { op: 'test' }])).toBe('[{op:string(3),path:string(2),value:string(1)}×2]');
  expect(outline({ spec: { kind: 'deep', token: 'abc' } })).toBe('{spec:{kind:string(4),token:string(3)}}');
  expect(bodyOutline(Buffer.from('a: b'))).toBe('4 bytes that are not JSON');
});

test('an outline has bounds: depth, fields, length, and the size of what is read at all', () => {
  const deep = { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } };
  expect(outline(deep)).toBe('{a:{a:{a:{a:{a:{a:…}}}}}}');
  expect(outline(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 1])))).toMatch(/,…\}$/);
  expect(outline(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${'k'.repeat(99)}${i}`, 1]))).length).toBeLessThan(2200);
  expect(bodyOutline(Buffer.alloc(256 * 1024 + 1, 32))).toBe('262145 bytes');
});

const ended = (more: object = {}): Context =>
  ({
    method: 'POST',
    path: '/api',
    started: 0,
    status: 201,
    auditId: 'id',
    bodyBytes: 7,
    responseBytes: 9,
    user: { name: 'alice' },
    ...more,
  }) as Context;
function lines(verbosity: number, ...requests: Context[]): string[] {
  const found: string[] = [];
  const log = openLog({ verbosity, now: () => 0, write: (text) => void found.push(...text.split('\n').filter((line) => line !== '')) });
  const finished = logRequests(log, systemClock, () => {});
  for (const ctx of requests) finished(ctx);
  log.flush();
  return found;
}

test('below 6 the pipeline has nothing more to do', () => {
  const observe = (): void => {};
  for (const verbosity of [0, 5]) {
    const log = openLog({ verbosity });
    expect(logRequests(log, systemClock, observe)).toBe(observe);
    expect(keepBodies(log)).toEqual([]);
  }
  expect(keepBodies(openLog({ verbosity: 7 }))).toEqual([]);
  expect(keepBodies(openLog({ verbosity: 8 }))).toHaveLength(1);
});

test('6 tells of clients, 7 of controllers too, 8 of bodies', () => {
  const requests = [ended(), ended({ inProcess: true }), ended({ keptBody: Buffer.from('{"a":"secret"}') })];
  expect(lines(5, ...requests)).toEqual([]);
  expect(lines(6, ...requests)).toHaveLength(2);
  expect(lines(6, ...requests)[0]).toMatch(/DEBUG request method=POST path=\/api user=alice code=201 millis=\S+ audit=id sent=7 bytes=9$/);
  expect(lines(7, ...requests)).toHaveLength(3);
  expect(lines(7, ...requests).join()).not.toContain('body=');
  const [, , third] = lines(8, ...requests);
  expect(third).toContain('body={a:string(6)}');
  expect(lines(10, ...requests).join()).not.toContain('secret');
});

test('a request that was refused before anybody was found, with a token in its path', () => {
  const [line] = lines(6, ended({ user: undefined, status: 401, path: '/x/abcdef.0123456789abcdef' }));
  expect(line).toContain('path=/x/[redacted] code=401');
});
