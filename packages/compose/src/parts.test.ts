import { expect, test } from 'vitest';
import { Parts } from './parts.ts';

test('parts end in the reverse of the order in which they began', async () => {
  const seen: string[] = [];
  const parts = new Parts();
  await parts.start(
    'a',
    () => seen.push('start a'),
    () => void seen.push('end a'),
  );
  await parts.start(
    'b',
    async () => seen.push('start b'),
    async () => void seen.push('end b'),
  );
  parts.add('c', () => void seen.push('end c'));
  await parts.close();
  expect(seen).toEqual(['start a', 'start b', 'end c', 'end b', 'end a']);
});

test('a part that cannot start leaves those before it to be closed, and none after', async () => {
  const ended: string[] = [];
  const parts = new Parts((name) => {
    if (name === 'b') throw new Error('no b');
  });
  await parts.start(
    'a',
    () => 1,
    () => void ended.push('a'),
  );
  await expect(
    parts.start(
      'b',
      () => ended.push('b began'),
      () => void ended.push('b'),
    ),
  ).rejects.toThrow('no b');
  await parts.close();
  expect(ended).toEqual(['a']);
  await expect(parts.start('c', () => 1)).rejects.toThrow('cannot start c: closing');
});

test('one that fails to end does not keep the others from ending', async () => {
  const ended: string[] = [];
  const parts = new Parts();
  parts.add('a', () => void ended.push('a'));
  parts.add('b', () => Promise.reject(new Error('stuck')));
  parts.add('c', () => {
    throw new Error('broken');
  });
  await expect(parts.close()).rejects.toThrow('cannot close c: broken; cannot close b: stuck');
  expect(ended).toEqual(['a']);
});

test('each part ends once, and a second call can make the end hurry', async () => {
  let ends = 0;
  const parts = new Parts();
  parts.add('a', (hurry) => {
    ends++;
    return new Promise((resolve) => hurry.addEventListener('abort', () => resolve()));
  });
  const first = parts.close();
  const second = parts.close(true);
  await Promise.all([first, second]);
  expect(ends).toBe(1);
});

test('a part that has started when all others have ended is ended, and the start refused', async () => {
  const ended: string[] = [];
  const parts = new Parts();
  parts.add('a', () => void ended.push('a'));
  let started: () => void = () => {};
  const starting = parts.start(
    'b',
    () =>
      new Promise<void>((resolve) => {
        started = resolve;
      }),
    () => void ended.push('b'),
  );
  await parts.close();
  started();
  await expect(starting).rejects.toThrow('cannot start b: closing');
  parts.add('c', () => void ended.push('c'));
  await parts.close();
  expect(ended).toEqual(['a', 'b', 'c']);
});
