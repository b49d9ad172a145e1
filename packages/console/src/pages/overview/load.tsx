/** Requests, latencies, queues and sizes over the last hour, as small charts. */
import type { ApiError } from '../../api/api-error.ts';
import { useConsole } from '../../app/console.ts';
import { pageHref } from '../../app/routes.ts';
import { useOpened } from '../../app/use.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Text } from '../../parts/text.tsx';
import { byteText, numberText, percentText, secondsText } from './amounts.ts';
import type { Point } from './metrics.ts';
import { KEPT_MILLIS, Sampler } from './sampler.ts';

export function Load() {
  const { api, clock, session } = useConsole();
  const user = session.details?.user.name ?? '';
  const sampler = useOpened(() => new Sampler({ api, clock, storage: sessionStorage, isVisible: () => !document.hidden, user }), [user]);
  const points = sampler.points.value;
  const error = sampler.error.value;
  return (
    <section aria-labelledby="load-title">
      <h2 id="load-title">Load of the last hour</h2>
      {error !== undefined && <Reason error={error} />}
      {(points.length > 0 || error === undefined) && <Charts points={points} />}
    </section>
  );
}

function Reason({ error }: { readonly error: ApiError }) {
  if (error.code === 403)
    return (
      <p class="quiet">
        You may not read the metrics of the server, so that there are no charts.{' '}
        <a href={pageHref('access', undefined, { verb: 'get', path: '/metrics' })}>Why, and what would allow it</a>
      </p>
    );
  return (
    <p class="quiet">
      The metrics of the server cannot be read: <Text value={error.message} />
    </p>
  );
}

function Charts({ points }: { readonly points: readonly Point[] }) {
  const times = points.map(({ at }) => at);
  const series = (label: string, field: Exclude<keyof Point, 'at'>, colour: Series['colour']): Series => ({
    label,
    colour,
    values: points.map((point) => point[field]),
  });
  const common = { times, spanMillis: KEPT_MILLIS };
  return (
    <div class="charts">
      <Chart
        title="Requests a second"
        format={numberText}
        series={[series('all', 'requestRate', '--accent'), series('failed', 'failureRate', '--bad')]}
        {...common}
      />
      <Chart
        title="Latency"
        format={secondsText}
        series={[series('median', 'median', '--accent'), series('99 %', 'slowest', '--busy')]}
        {...common}
      />
      <Chart
        title="Waiting"
        format={numberText}
        series={[series('requests', 'waiting', '--accent'), series('controllers', 'queued', '--busy')]}
        {...common}
      />
      <Chart title="Objects in the store" format={numberText} series={[series('objects', 'objects', '--accent')]} {...common} />
      <Chart title="Memory" format={byteText} series={[series('resident', 'memoryBytes', '--accent')]} {...common} />
      <Chart title="Processor" format={percentText} series={[series('of a core', 'processor', '--accent')]} {...common} />
    </div>
  );
}
