import { expect, test } from 'vitest';
import { GroupWriter, type Job } from './writer.ts';

/** A writer whose groups end when the test says so; `log` tells what happened, in order. */
function setup() {
  const log: string[] = [];
  const transactions: { finish(): void; fail(message: string): void }[] = [];
  let room = true;
  type Named = Job & { name: string };
  const names = (jobs: readonly Named[]) => jobs.map(({ name }) => name).join('');
  const writer = new GroupWriter<Named>({
    write(jobs) {
      for (const { name } of jobs) log.push(`write ${name}`);
      return new Promise((resolve, reject) => transactions.push({ finish: resolve, fail: (message) => reject(new Error(message)) }));
    },
    durable: (jobs) => log.push(`durable ${names(jobs)}`),
    failed: (jobs, error) => log.push(`failed ${names(jobs)}: ${(error as Error).message}`),
    monotonic: () => 0,
    admit() {
      if (!room) throw new Error('no room');
    },
  });
  const add = (name: string, bytes = 1) => writer.add({ name, bytes });
  const setRoom = (value: boolean) => {
    room = value;
  };
  return { log, transactions, writer, add, setRoom };
}
/** Long enough for a group to have gathered. */
async function turn(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise(setImmediate);
}

test('what arrives during a transaction goes together into the next', async () => {
  const { log, transactions, writer, add } = setup();
  add('a');
  add('b');
  await turn();
  add('c');
  add('d');
  await turn();
  expect(log).toEqual(['write a', 'write b']);
  transactions[0]?.finish();
  await turn();
  await turn();
  expect(log.slice(2)).toEqual(['durable ab', 'write c', 'write d']);
  const idle = writer.idle();
  transactions[1]?.finish();
  await idle;
  expect(log.at(-1)).toBe('durable cd');
});

test('a group is bounded in size', async () => {
  const { log, transactions, add } = setup();
  add('a', 6 * 2 ** 20);
  add('b', 6 * 2 ** 20);
  add('c');
  await turn();
  expect(log).toEqual(['write a', 'write b']);
  transactions[0]?.finish();
  await turn();
  await turn();
  expect(log.at(-1)).toBe('write c');
});

test('when there is no room nothing is tried, and writing goes on when there is', async () => {
  const { log, transactions, writer, add, setRoom } = setup();
  setRoom(false);
  add('a');
  add('b');
  await turn();
  expect(log).toEqual(['failed ab: no room']);
  setRoom(true);
  add('c');
  await turn();
  transactions[0]?.finish();
  await turn();
  expect(log.slice(1)).toEqual(['write c', 'durable c']);
  expect(writer.broken).toBeUndefined();
});

test('when a transaction fails, what waits behind it fails too, and nothing is tried any more', async () => {
  const { log, transactions, writer, add } = setup();
  add('a');
  await turn();
  add('b');
  transactions[0]?.fail('the disk is broken');
  await turn();
  expect(log.slice(1)).toEqual(['failed ab: the disk is broken']);
  add('c');
  await turn();
  expect(log.slice(2)).toEqual(['failed c: the disk is broken']);
  expect(writer.broken).toBeDefined();
  await writer.idle();
});
