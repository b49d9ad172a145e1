import { describe, expect, test } from 'vitest';
import { alignTabs, Page } from './page.ts';

describe('columns', () => {
  test('cells of one column on consecutive lines are equally wide; a line without that cell ends the column', () => {
    expect(alignTabs('a:\tb\nlonger:\tc\n')).toBe('a:       b\nlonger:  c\n');
    expect(alignTabs('a:\tb\nno cell\nlonger:\tc\n')).toBe('a:  b\nno cell\nlonger:  c\n');
    expect(alignTabs('a\tbb\tc\nd\te\nf\tg\th\n')).toBe('a  bb  c\nd  e\nf  g  h\n');
  });
  test('what follows the last tab of a line is as wide as it is; empty cells take two spaces', () => {
    expect(alignTabs('\tx\n')).toBe('  x\n');
    expect(alignTabs('a\t\n')).toBe('a  \n');
    expect(alignTabs('a\t\tb\ncc\t\td')).toBe('a     b\ncc    d');
  });
  test('characters outside of the first plane are one wide', () => {
    expect(alignTabs('🐢\tx\nab\ty\n')).toBe('🐢   x\nab  y\n');
  });
  test('a form feed ends a line, a vertical tab a cell', () => {
    expect(alignTabs('a\vb\fcc\vd')).toBe('a   b\ncc  d');
  });
});

describe('pages', () => {
  test('fields, lists, tables and levels', () => {
    const page = new Page();
    page
      .field('Name', 'web')
      .fieldIfSet('Absent', undefined)
      .fieldIfSet('Empty', '')
      .fieldIfSet('Zero', 0)
      .labels('Labels', { b: '2', a: '1' });
    page
      .heading('Ports')
      .at(1)
      .table(['Name', 'Port'], [['http', 80]], [2]);
    expect(page.toString()).toBe(
      ['Name:    web', 'Zero:    0', 'Labels:  a=1', '         b=2', 'Ports:', '  Name  Port', '  --    ----', '  http  80', ''].join('\n'),
    );
  });
  test('every write of a level is indented, so values of lists are, too', () => {
    const page = new Page();
    page.at(1).labels('Labels', {}).labels('More', { a: '1', b: '2' });
    expect(page.toString()).toBe('  Labels:    <none>\n  More:      a=1\n             b=2\n');
  });
  test('long and broken annotations begin below their key and are cut at 140 bytes; what was applied last is left out', () => {
    const annotations = {
      short: 'x',
      broken: 'one\ntwo\n',
      long: 'y'.repeat(150),
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    expect(new Page().annotations('Annotations', annotations).toString()).toBe(
      [
        'Annotations:  broken:',
        '                one',
        '                two',
        '              long:',
        `                ${'y'.repeat(138)}...`,
        '              short: x',
        '',
      ].join('\n'),
    );
    expect(new Page().annotations('Annotations', { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }).toString()).toBe(
      'Annotations:  <none>\n',
    );
    // 140 bytes with the key fit, one more does not.
    expect(new Page().annotations('A', { k: 'y'.repeat(137) }).toString()).toBe(`A:  k: ${'y'.repeat(137)}\n`);
    expect(new Page().annotations('A', { k: 'y'.repeat(138) }).toString()).toBe(`A:  k:\n      ${'y'.repeat(138)}\n`);
  });
  test('escape sequences of terminals are shown, not obeyed', () => {
    expect(new Page().field('Name', '\x1b[31mred\r').toString()).toBe('Name:  ^[[31mred\\r\n');
    expect(new Page().field('Name', '\u009b31m\u0007\u202e').toString()).toBe('Name:  \\u009b31m\\u0007\\u202e\n');
  });
});
