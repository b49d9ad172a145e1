/**
 * With `TEST_TIMES=FILE`: adds a line of JSON to FILE for each test file, with the seconds of processor time that it took, in its
 * process and in programs that it started and waited for. What takes long on a busy machine need not cost much, and the other way round.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

/** Clock ticks of the system, by which Linux counts processor time. */
const TICKS_PER_SECOND = 100;

/** Seconds of this process and of its children that ended. */
function used(): { own: number; children: number } {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // Fields 14 to 17; the second one is a name in parentheses, which may hold blanks.
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return { own: (user + system) / TICKS_PER_SECOND, children: (childUser + childSystem) / TICKS_PER_SECOND };
}

const { TEST_TIMES } = process.env;
if (TEST_TIMES !== undefined) {
  const before = used();
  afterAll(() => {
    const { own, children } = used();
    const file = relative(process.cwd(), expect.getState().testPath ?? '');
    const seconds = { own: Number((own - before.own).toFixed(2)), children: Number((children - before.children).toFixed(2)) };
    appendFileSync(TEST_TIMES, `${JSON.stringify({ file, ...seconds })}\n`);
  });
}
