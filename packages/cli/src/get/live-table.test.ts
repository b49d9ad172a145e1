import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { TableRow } from '../output/print-table.ts';
import { Screen } from '../output/screen.testing.ts';
import { testIO } from '../testing.ts';
import { LiveTable } from './live-table.ts';

const columns = [
  { name: 'Name', type: 'string', format: 'name' },
  { name: 'Status', type: 'string' },
  { name: 'Age', type: 'string' },
];
const start = Date.UTC(2024, 0, 1);
const row = (name: string, status: string, seconds = 5): TableRow => ({
  cells: [name, status, 'stale'],
  object: { metadata: { name, creationTimestamp: new Date(start - seconds * 1000).toISOString() } },
});

function setUp(width = 40, height = 10) {
  const clock = new FakeClock(start);
  const size = { width, height };
  const screen = new Screen(size);
  let resized = (): void => {};
  const io = testIO({
    clock,
    env: { NO_COLOR: '1' },
    out: (text) => screen.write(text),
    terminal: {
      ...testIO().terminal,
      size: () => size,
      onResize: (call) => {
        resized = call;
        return () => {};
      },
    },
  });
  const resize = (to: { width: number; height: number }): void => {
    Object.assign(size, to);
    screen.resize();
    resized();
  };
  return { clock, screen, io, resize };
}

test('rows are drawn in place, in order, and go when they are deleted', async () => {
  const { clock, screen, io } = setUp();
  const table = new LiveTable(io, [{ headers: true }]);
  expect(screen.cursorIsShown).toBe(false);
  table.change(0, 'ADDED', columns, []);
  expect(screen.lines).toEqual(['No resources found so far']);
  table.change(0, 'ADDED', undefined, [row('b', 'Pending'), row('a', 'Running', 300)]);
  await clock.advance(100);
  expect(screen.lines).toEqual(['NAME   STATUS    AGE', 'a      Running   5m', 'b      Pending   5s']);
  // A server sends the columns of a watch once, and null after that.
  table.change(0, 'MODIFIED', null, [row('b', 'CrashLoopBackOff')]);
  table.change(0, 'DELETED', undefined, [row('a', 'Running')]);
  await clock.advance(100);
  expect(screen.lines).toEqual(['NAME   STATUS             AGE', 'b      CrashLoopBackOff   5s']);
  table.close();
  expect(screen.cursorIsShown).toBe(true);
  expect(screen.lines).toHaveLength(2);
});

test('ages go on, and nothing is written while nothing changes', async () => {
  const { clock, screen, io } = setUp();
  const table = new LiveTable(io, [{ headers: false }]);
  table.change(0, 'ADDED', columns, [row('a', 'Running', 59)]);
  await clock.advance(2000);
  expect(screen.lines).toEqual(['a     Running   61s']);
  table.change(0, 'MODIFIED', undefined, [row('a', 'Running', 7 * 86_400)]);
  await clock.advance(1000);
  const { written } = screen;
  await clock.advance(5000);
  expect(screen.written).toBe(written);
  expect(screen.lines).toEqual(['a     Running   7d']);
  table.close();
});

test('what does not fit is cut, and counted', () => {
  const { screen, io, resize } = setUp(12, 4);
  const table = new LiveTable(io, [{ headers: true }]);
  table.change(
    0,
    'ADDED',
    columns,
    ['a', 'b', 'c', 'd'].map((name) => row(name, 'Running')),
  );
  expect(screen.lines).toEqual(['NAME   STATU', 'a      Runni', '… 3 more lin']);
  resize({ width: 30, height: 8 });
  expect(screen.lines).toEqual(['NAME   STATUS    AGE', ...['a', 'b', 'c', 'd'].map((name) => `${name}      Running   5s`)]);
  resize({ width: 9, height: 3 });
  expect(screen.lines).toEqual(['NAME   ST', '… 4 more']);
  table.close();
});

test('several kinds stand one below the other', () => {
  const { screen, io } = setUp();
  const table = new LiveTable(io, [
    { headers: true, prefix: 'pod/' },
    { headers: true, prefix: 'service/' },
  ]);
  table.change(0, 'ADDED', columns, [row('a', 'Running')]);
  table.change(1, 'ADDED', columns, [row('s', 'Ready')]);
  table.close();
  expect(screen.lines).toEqual([
    'NAME    STATUS    AGE',
    'pod/a   Running   5s',
    '',
    'NAME        STATUS   AGE',
    'service/s   Ready    5s',
  ]);
});

test('a burst of changes is drawn once', async () => {
  const { clock, screen, io } = setUp();
  const table = new LiveTable(io, [{ headers: true }]);
  table.change(0, 'ADDED', columns, [row('a', 'Pending')]);
  const { written } = screen;
  for (let i = 0; i < 50; i++) table.change(0, 'MODIFIED', undefined, [row('a', `Init:${i}/50`)]);
  expect(screen.written).toBe(written);
  await clock.advance(100);
  expect(screen.written).toBe(written + 1);
  expect(screen.lines[1]).toContain('Init:49/50');
  table.close();
});
