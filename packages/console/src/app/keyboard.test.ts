import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Keyboard } from './keyboard.ts';

function started() {
  const clock = new FakeClock();
  const keyboard = new Keyboard(clock);
  const pressed: string[] = [];
  const binding = (key: string, label = key) => ({ key, label, run: () => pressed.push(label) });
  return { clock, keyboard, pressed, binding };
}

test('a pair of keys is one key, unless the second comes late or means nothing', async () => {
  const { clock, keyboard, pressed, binding } = started();
  keyboard.add([binding('g p'), binding('p')]);
  expect([keyboard.press('g'), keyboard.press('p')]).toEqual([true, true]);
  keyboard.press('g');
  await clock.advance(1500);
  keyboard.press('p');
  expect([keyboard.press('g'), keyboard.press('x'), keyboard.press('x')]).toEqual([true, false, false]);
  expect(pressed).toEqual(['g p', 'p']);
});

test('what was added last has a key until it is removed', () => {
  const { keyboard, pressed, binding } = started();
  keyboard.add([binding('d', 'page')]);
  const remove = keyboard.add([binding('d', 'table')]);
  keyboard.press('d');
  remove();
  keyboard.press('d');
  expect(pressed).toEqual(['table', 'page']);
});
