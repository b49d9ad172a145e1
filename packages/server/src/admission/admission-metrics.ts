/** Durations of admission, as a whole and by plug-in. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Histogram, Metrics } from '@plat-dev/lib/metrics';
import type { ChainObserver, Observe, Phase } from './chain.ts';

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** The phase as the metrics of a stock server name it. */
const typeOf: Readonly<Record<Phase, string>> = { admit: 'admit', validate: 'validate' };

export function chainMetrics(metrics: Metrics, clock: Clock): ChainObserver {
  const plugins = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time that an admission plug-in took, by its name, the operation and the phase.',
    labels: ['name', 'operation', 'rejected', 'type'],
    stability: 'STABLE',
    buckets,
  });
  const phases = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Time that a whole phase of admission took, by operation.',
    labels: ['operation', 'rejected', 'type'],
    stability: 'STABLE',
    buckets,
  });
  return {
    now: () => clock.monotonic(),
    plugin: (name, phase, operation) => observer((rejected) => plugins.with(name, operation, rejected, typeOf[phase])),
    phase: (phase, operation) => observer((rejected) => phases.with(operation, rejected, typeOf[phase])),
  };
}

/** Series are made when there is something to show. */
function observer(series: (rejected: 'true' | 'false') => Histogram): Observe {
  let passed: Histogram | undefined;
  let refused: Histogram | undefined;
  return (seconds, rejected) => {
    if (rejected) {
      refused ??= series('true');
      refused.observe(seconds);
    } else {
      passed ??= series('false');
      passed.observe(seconds);
    }
  };
}
