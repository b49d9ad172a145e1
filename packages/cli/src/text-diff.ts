/**
 * Differences between texts, line by line, in the unified format:
 *
 *   @@ -1,3 +1,3 @@
 *    kind: ConfigMap
 *   -data: a
 *   +data: b
 */

type Line = readonly [mark: ' ' | '-' | '+', text: string];

const CONTEXT = 3;
/** Beyond this many changes everything between the first and the last is shown as replaced. */
const MOST_CHANGES = 2000;

/** Empty when the texts are the same. */
export function unifiedDiff(before: string, after: string, names: { readonly before: string; readonly after: string }): string {
  if (before === after) return '';
  const lines = diffLines(linesOf(before), linesOf(after));
  return [`--- ${names.before}`, `+++ ${names.after}`, ...hunks(lines), ''].join('\n');
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

export function diffLines(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (text: string): Line => [' ', text];
  return [
    ...a.slice(0, start).map(same),
    ...shortestEdit(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/**
 * The shortest edit script from one list to the other. `reach[k]` is the furthest position in `a` on diagonal
 * k = x - y with so many changes; the states are kept, to trace the path back.
 */
function shortestEdit(a: readonly string[], b: readonly string[]): Line[] {
  const offset = Math.min(a.length + b.length, MOST_CHANGES) + 1;
  const reach = new Int32Array(2 * offset + 1);
  const states: Int32Array[] = [];
  for (let changes = 0; changes < offset; changes++) {
    states.push(reach.slice());
    for (let k = -changes; k <= changes; k += 2) {
      const down = k === -changes || (k !== changes && (reach[k - 1 + offset] as number) < (reach[k + 1 + offset] as number));
      let x = down ? (reach[k + 1 + offset] as number) : (reach[k - 1 + offset] as number) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[k + offset] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(a, b, states, offset);
    }
  }
  return [...a.map((text): Line => ['-', text]), ...b.map((text): Line => ['+', text])];
}

function wayBack(a: readonly string[], b: readonly string[], states: readonly Int32Array[], offset: number): Line[] {
  const lines: Line[] = [];
  let x = a.length;
  let y = b.length;
  for (let changes = states.length - 1; changes >= 0; changes--) {
    const reach = states[changes] as Int32Array;
    const k = x - y;
    const down = k === -changes || (k !== changes && (reach[k - 1 + offset] as number) < (reach[k + 1 + offset] as number));
    const fromX = changes === 0 ? 0 : (reach[(down ? k + 1 : k - 1) + offset] as number);
    const fromY = changes === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      lines.push([' ', a[--x] as string]);
      y--;
    }
    if (changes === 0) break;
    if (down) lines.push(['+', b[--y] as string]);
    else lines.push(['-', a[--x] as string]);
  }
  return lines.reverse();
}

function hunks(lines: readonly Line[]): string[] {
  const out: string[] = [];
  let i = 0;
  let [lineA, lineB] = [1, 1];
  while (i < lines.length) {
    const first = lines.findIndex(([mark], at) => at >= i && mark !== ' ');
    if (first === -1) break;
    const from = Math.max(i, first - CONTEXT);
    const to = endOfHunk(lines, first);
    lineA += from - i;
    lineB += from - i;
    const part = lines.slice(from, to);
    const countA = part.filter(([mark]) => mark !== '+').length;
    const countB = part.filter(([mark]) => mark !== '-').length;
    out.push(`@@ -${range(lineA, countA)} +${range(lineB, countB)} @@`, ...part.map(([mark, text]) => `${mark}${text}`));
    lineA += countA;
    lineB += countB;
    i = to;
  }
  return out;
}
/** Changes that are near each other share a hunk. */
function endOfHunk(lines: readonly Line[], first: number): number {
  let last = first;
  for (let i = first; i < lines.length && i - last <= 2 * CONTEXT; i++) if (lines[i]?.[0] !== ' ') last = i;
  return Math.min(lines.length, last + 1 + CONTEXT);
}
const range = (start: number, count: number): string => (count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`);
