/** Many clients of all manners at once: whatever they do, every request ends once, and nothing of a connection remains. */

import { inNextTurn } from '@plat-dev/lib/next-turn';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { rounds, testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { openPort, RawClient } from './http1.testing.ts';
import type { Request } from './request.ts';
import type { Response } from './response.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turn();
};

/** Bytes of a request, and whether it asks for the end of the connection. */
function requestOf(random: Random): { bytes: string; last: boolean } {
  const last = random.below(4) === 0;
  const more = last ? 'Connection: close\r\n' : '';
  const body = 'x'.repeat(random.below(3) === 0 ? random.below(200_000) : random.below(50));
  const path = `/${random.below(5)}?${random.below(60_000)}`;
  switch (random.below(4)) {
    case 0:
      return { bytes: `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`, last };
    case 1:
      return { bytes: `POST ${path} HTTP/1.1\r\nHost: x\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`, last };
    case 2:
      return { bytes: `HEAD ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`, last };
    default: {
      const half = Math.floor(body.length / 2);
      const chunk = (text: string): string => (text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`);
      const chunks = `${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`;
      return { bytes: `PUT ${path} HTTP/1.1\r\nHost: x\r\n${more}Transfer-Encoding: chunked\r\n\r\n${chunks}`, last };
    }
  }
}

/** Sends some requests in pieces, and goes away at the end or before. Returns how many were sent whole to a client that stayed. */
async function client(port: number, random: Random): Promise<void> {
  const raw = new RawClient(port);
  let text = '';
  let expected = 0;
  let last = false;
  for (let i = 0; i <= random.below(4) && !last; i++) {
    const one = requestOf(random);
    text += one.bytes;
    ({ last } = one);
    expected++;
  }
  const leaves = random.below(4) === 0;
  const end = leaves ? random.below(text.length) : text.length;
  for (let at = 0; at < end; ) {
    const to = Math.min(end, at + 1 + random.below(random.below(2) === 0 ? 50 : 100_000));
    await raw.send(text.slice(at, to));
    if (random.below(3) === 0) await turn();
    at = to;
  }
  if (leaves) {
    if (random.below(2) === 0) raw.socket.resetAndDestroy();
    else raw.socket.destroy();
    return;
  }
  const answers = (): number => raw.text.split('HTTP/1.1 200 OK\r\n').length - 1;
  await raw.until(({ ended }) => ended || (answers() === expected && (raw.text.endsWith('end') || raw.text.endsWith('\r\n\r\n'))));
  expect(answers()).toBe(expected);
  raw.socket.destroy();
}

test(`whatever clients do, every request ends once (seed ${testSeed})`, async () => {
  const random = seededRandom(testSeed);
  const count = { handled: 0, closed: 0, finished: 0 };
  /** Answers by what the path says: at once or later, before or behind the body, with or without a length. */
  const handle = (req: Request, res: Response): void => {
    count.handled++;
    res.on('finish', () => count.finished++);
    res.on('close', () => {
      count.closed++;
      if (!req.complete) req.resume();
    });
    const [manner, size] = req.url.slice(1).split('?').map(Number) as [number, number];
    const body = Buffer.alloc(size, 'y');
    const answer = (): void => {
      if (res.destroyed) return;
      if (manner === 1) {
        res.writeHead(200, ['Content-Type', 'text/plain']);
        res.write(body);
        inNextTurn(() => res.end(Buffer.from('end')));
      } else {
        res.writeHead(200, ['Content-Length', String(size + 3)]);
        res.write(body);
        res.end(Buffer.from('end'));
      }
    };
    if (manner === 0) answer();
    else if (manner === 2) void turns(size % 5).then(answer);
    else {
      req.on('data', () => {});
      req.on('end', answer);
    }
  };
  const port = await openPort({ handle: handle as never });
  const all: Promise<void>[] = [];
  for (let i = 0; i < rounds(800); i++) {
    all.push(client(port.port, random));
    if (i % 20 === 19) await Promise.all(all.splice(0));
  }
  await Promise.all(all);
  while (port.http1.connections.size > 0) await turn();
  expect(count.closed).toBe(count.handled);
  expect(count.finished).toBeGreaterThan(count.handled / 2);
  await port.close();
}, 120_000);
