import http2 from 'node:http2';
import { systemClock } from '@plat-dev/lib/clock';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterEach, expect, test } from 'vitest';
import { OPEN_STREAMS, SessionTurns } from './http2-requests.ts';
import { type Listener, listen } from './listen.ts';
import { fixedTls } from './tls.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Requests by number; what was handled, and whether the connection was given up. */
function session() {
  const handled: number[] = [];
  const state = { givenUp: false };
  const turns = new SessionTurns(() => {
    state.givenUp = true;
  });
  const begin = (id: number) => {
    const stream = { destroyed: false, aborted: false };
    turns.add({ stream, handle: () => void handled.push(id) });
    return stream;
  };
  return { begin, handled, state };
}

test('one request is handled in each turn, those that were reset are passed over', async () => {
  const { begin, handled } = session();
  begin(1);
  const second = begin(3);
  begin(5);
  expect(handled).toEqual([1]);
  second.aborted = true;
  begin(7);
  await turn();
  expect(handled).toEqual([1, 5]);
  await turn();
  expect(handled).toEqual([1, 5, 7]);
  await turn();
  begin(9);
  expect(handled).toEqual([1, 5, 7, 9]);
});

test('more streams in one turn than may be open end the connection', async () => {
  const { begin, handled, state } = session();
  for (let id = 0; id < OPEN_STREAMS; id++) begin(id);
  expect(state.givenUp).toBe(false);
  begin(OPEN_STREAMS);
  expect(state.givenUp).toBe(true);
  await turn();
  expect(handled).toEqual([0]);
});

let listener: Listener | undefined;
let counting: NodeJS.Immediate | undefined;
afterEach(() => {
  clearImmediate(counting);
  listener?.abort();
});

/** A port that answers, and how many requests it handled in each turn of the loop. */
async function port(): Promise<{ readonly origin: string; readonly handledIn: Map<number, number> }> {
  const now = Date.now();
  const issued = issueServing(readAuthority(newAuthority('ca', now)), { commonName: 'a', dns: ['a'], addresses: ['127.0.0.1'] }, now);
  const handledIn = new Map<number, number>();
  let current = 0;
  const count = (): void => {
    current++;
    counting = setImmediate(count);
  };
  count();
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: fixedTls(issued),
    clock: systemClock,
    handle: (_, res) => {
      handledIn.set(current, (handledIn.get(current) ?? 0) + 1);
      res.end(Buffer.from('ok'));
    },
  });
  return { origin: `https://127.0.0.1:${listener.port}`, handledIn };
}

test('a burst of as many streams as may be open is answered, one in a turn', async () => {
  const { origin, handledIn } = await port();
  const client = http2.connect(origin, { rejectUnauthorized: false });
  await new Promise((resolve) => client.once('remoteSettings', resolve));
  expect(client.remoteSettings.maxConcurrentStreams).toBe(OPEN_STREAMS);
  const answers = Array.from({ length: OPEN_STREAMS }, () => {
    const stream = client.request({ ':path': '/' });
    return new Promise<string>((resolve, reject) => {
      let text = '';
      stream.on('data', (chunk) => {
        text += chunk;
      });
      stream.on('end', () => resolve(text));
      stream.on('error', reject);
    });
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['ok']));
  client.destroy();
  // One that arrives while none waits is handled at once, which may be within the turn that is counted for the next.
  expect(Math.max(...handledIn.values())).toBeLessThanOrEqual(2);
});
