import { FakeClock } from '@plat-dev/lib/clock';
import { inSlices, Slices, type Work } from '@plat-dev/lib/slices';

// Time is a value: a test moves it.
const clock = new FakeClock();
clock.after(5_000, () => console.log('five seconds have passed'));
await clock.advance(5_000);

// Long work is written once, and pauses wherever it yields.
function* sum(count: number): Work<number> {
  let total = 0;
  for (let i = 1; i <= count; i++) {
    total += i;
    yield;
  }
  return total;
}
console.log(await inSlices(sum(1000), new Slices()));
