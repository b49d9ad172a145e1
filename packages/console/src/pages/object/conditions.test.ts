import { expect, test } from 'vitest';
import { timelineOf } from './conditions.ts';

test('conditions, creation and deletion stand in the order of their times, newest first', () => {
  const entries = timelineOf({
    metadata: { creationTimestamp: '2026-01-01T10:00:00Z', deletionTimestamp: '2026-01-01T10:03:00Z' },
    status: {
      conditions: [
        { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T10:02:00Z', reason: 'Crash', message: 'it crashed' },
        { type: 'MemoryPressure', status: 'False', lastTransitionTime: '2026-01-01T10:01:00Z' },
      ],
    },
  });
  expect(entries.map(({ title, tone }) => [title, tone])).toEqual([
    ['Deletion asked for', 'busy'],
    ['Ready', 'bad'],
    ['MemoryPressure', 'good'],
    ['Created', 'over'],
  ]);
});

test.each([
  ['no status at all', { metadata: {} }],
  ['conditions that are no list', { status: { conditions: 'none' } }],
  ['conditions without fields', { status: { conditions: [null, 1] } }],
])('%s breaks nothing', (_, object) => {
  expect(() => timelineOf(object)).not.toThrow();
});
