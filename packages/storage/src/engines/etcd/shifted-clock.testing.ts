import { type Clock, systemClock } from '@plat-dev/lib/clock';

/** The machine's clock, which a test sets forward: etcd itself knows only the time of the machine. */
export interface ShiftedClock extends Clock {
  shift(milliseconds: number): void;
}

export function shiftedClock(): ShiftedClock {
  let offset = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + offset,
    shift: (milliseconds) => {
      offset += milliseconds;
    },
  };
}
