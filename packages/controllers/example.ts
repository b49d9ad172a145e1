import { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { FakeClock } from '@plat-dev/lib/clock';

const clock = new FakeClock();
let failures = 1;
const queue = new WorkQueue({
  name: 'example',
  clock,
  work: async (key) => {
    if (failures-- > 0) throw new Error('not now');
    console.log('reconciled', key);
  },
  report: (error, key) => console.log('retry', key, (error as Error).message),
});
queue.start();
queue.add('default/web');
queue.add('default/web');
// It fails once, and is retried when time has passed.
await clock.advance(0);
await clock.advance(1_000);
queue.stop();
