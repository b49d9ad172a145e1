import { expect, test } from 'vitest';
import type { Paint } from '../output/colours.ts';
import { colourPage } from './colour-page.ts';

const paint: Paint = (text, colour) => (colour === undefined ? text : `<${colour} ${text}>`);

test.each([
  ['Status:  Running', 'Status:  <green Running>'],
  ['Status:  Terminating (lasts 5m)', 'Status:  <yellow Terminating> (lasts 5m)'],
  ['    Reason:       CrashLoopBackOff', '    Reason:       <red CrashLoopBackOff>'],
  ['  Ready             False ', '  Ready             <red False> '],
  ['  MemoryPressure    False ', '  MemoryPressure    False '],
  ['  Warning  Failed   5m', '  <yellow Warning>  Failed   5m'],
  ['Name:    Running', 'Name:    Running'],
  ['Type:    ClusterIP', 'Type:    ClusterIP'],
])('%j', (line, coloured) => {
  expect(colourPage(line, paint)).toBe(coloured);
});
