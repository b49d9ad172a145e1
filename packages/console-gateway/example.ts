import { newCode } from '@plat-dev/console-gateway/code';
import { FakeClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';

const clock = new FakeClock();
const code = newCode(seededRandom(1), clock);
console.log(code.text.length, 'characters');
console.log((code.expires - clock.monotonic()) / 60_000, 'minutes');
