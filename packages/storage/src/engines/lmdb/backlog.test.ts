import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';
import { prepareChange } from './change.ts';
import type { Tables } from './table.ts';

/** A backlog whose transactions end when the test says so; `written` lists the revisions of each. */
function setup() {
  const written: number[][] = [];
  const transactions: { finish(): void; fail(error: Error): void }[] = [];
  const tables = { records: { put: ({ revision }: { revision: number }) => written.at(-1)?.push(revision) }, versions: { put() {} } };
  const clock = new FakeClock();
  const state = {
    write(_bytes: number, fill: () => void): Promise<void> {
      written.push([]);
      fill();
      return new Promise((resolve, reject) => transactions.push({ finish: resolve, fail: reject }));
    },
  };
  const backlog = new Backlog(tables as unknown as Tables, 0, state, clock);
  const commit = (revision: number, changes = 1, bytes = 1) =>
    backlog.add(
      Array.from({ length: changes }, (_, index) => {
        const operation = { type: 'put', key: `k${revision}-${index}`, value: Buffer.alloc(bytes) } as const;
        return prepareChange(operation, undefined, { revision, index, time: 0 }) as never;
      }),
    );
  return { backlog, commit, written, transactions, clock };
}
const turn = () => new Promise(setImmediate);

test('the tables take whole commits, some hundreds of changes at a time', async () => {
  const { backlog, commit, written, transactions } = setup();
  for (let revision = 1; revision <= 255; revision++) commit(revision);
  commit(256, 3);
  commit(257);
  const applied = backlog.applyTo(257);
  await turn();
  expect([written[0]?.length, written[0]?.at(-1), backlog.applied]).toEqual([258, 256, 0]);
  transactions[0]?.finish();
  await turn();
  expect([written[1], backlog.applied]).toEqual([[257], 256]);
  transactions[1]?.finish();
  await applied;
  expect([backlog.applied, backlog.count, backlog.bytes]).toEqual([257, 0, 0]);
  backlog.stop();
});

test('a subscriber is given what the tables lack, and the rest of it later', () => {
  const { backlog, commit } = setup();
  commit(1, 499);
  commit(2, 2);
  commit(3);
  expect(backlog.slice(0)).toMatchObject({ revision: 2 });
  expect(backlog.slice(0).changes).toHaveLength(501);
  expect(backlog.slice(2).changes.map(({ key }) => key)).toEqual(['k3-0']);
  expect(backlog.slice(3)).toEqual({ changes: [], revision: 3 });
  backlog.stop();
});

test('more than the memory should hold makes commits wait until the tables have taken it', async () => {
  const { backlog, commit, transactions } = setup();
  commit(1, 1, 33 * 2 ** 20);
  let room = false;
  const waiting = backlog.room().then(() => {
    room = true;
  });
  await turn();
  expect(room).toBe(false);
  transactions[0]?.finish();
  await waiting;
  await backlog.room();
  backlog.stop();
});

test('what fails stays, is reported to whoever waits for it, and can be retried', async () => {
  const { backlog, commit, written, transactions } = setup();
  commit(1);
  const applied = backlog.applyTo(1);
  await turn();
  transactions[0]?.fail(new Error('no room'));
  await expect(applied).rejects.toThrow('no room');
  expect([backlog.applied, backlog.count]).toEqual([0, 1]);
  const again = backlog.applyTo(1);
  await turn();
  transactions[1]?.finish();
  await again;
  expect(written).toEqual([[1], [1]]);
  backlog.stop();
});

test('the tables take what has come after a pause, also what came while they were busy for longer than a pause', async () => {
  const { backlog, commit, written, transactions, clock } = setup();
  commit(1);
  await clock.advance(99);
  expect(written).toEqual([]);
  await clock.advance(1);
  expect(written).toEqual([[1]]);
  commit(2);
  await clock.advance(1000);
  expect(written).toEqual([[1]]);
  transactions[0]?.finish();
  await turn();
  await clock.advance(100);
  expect(written).toEqual([[1], [2]]);
  transactions[1]?.finish();
  await turn();
  expect([backlog.applied, clock.pending]).toEqual([2, 0]);
  backlog.stop();
});
