/**
 * Loaded before a server (`--require`): its clock can be set forward and back while it runs. SIGUSR2 makes it read the
 * offset in milliseconds from the file that PLAT_CLOCK_FILE names. Time that only goes forward is left alone.
 */
const { readFileSync } = require('node:fs');

const RealDate = Date;
let offset = 0;
const now = () => RealDate.now() + offset;

class ShiftedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }
  static now() {
    return now();
  }
}
globalThis.Date = ShiftedDate;

process.on('SIGUSR2', () => {
  offset = Number(readFileSync(process.env.PLAT_CLOCK_FILE, 'utf8'));
});
