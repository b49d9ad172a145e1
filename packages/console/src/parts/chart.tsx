/** A small chart of values over time, drawn by uPlot, which is loaded with the first chart. Its newest values are also said in words. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useConsole } from '../app/console.ts';
import './chart.css';

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Of the theme: `--accent`. */
  readonly colour: `--${string}`;
}
export interface ChartProps {
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The time that the chart shows, up to now. */
  readonly spanMillis: number;
}

const HEIGHT = 96;

export function Chart(props: ChartProps) {
  const { title, series, format } = props;
  const newest = series.map(({ label, values }) => {
    const value = values.findLast((one) => one !== null);
    return `${label} ${value == null ? '–' : format(value)}`;
  });
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul>
          {series.map(({ label, colour }, index) => (
            <li key={label}>
              <span class="key" style={{ background: `var(${colour})` }} aria-hidden="true" /> {newest[index]}
            </li>
          ))}
        </ul>
      </figcaption>
      <div role="img" aria-label={`${title} over the last hour; now: ${newest.join(', ')}`}>
        <Plot {...props} />
      </div>
    </figure>
  );
}

function Plot({ times, series, format, spanMillis }: ChartProps) {
  const { clock } = useConsole();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const theme = useTheme();
  const now = clock.now();
  const data: uPlot.AlignedData = [times.map((at) => at / 1000), ...series.map(({ values }) => [...values])];
  const newestData = useRef(data);
  newestData.current = data;
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    let isGone = false;
    void import('uplot').then(({ default: Plotter }) => {
      if (isGone) return;
      plot.current = new Plotter(optionsOf(element, series, format), newestData.current, element);
      setSpan(plot.current, clock.now(), spanMillis);
    });
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      isGone = true;
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [theme]);
  useEffect(() => {
    plot.current?.setData(data, false);
    if (plot.current !== undefined) setSpan(plot.current, now, spanMillis);
  }, [times]);
  return <div class="plot" ref={place} />;
}

function setSpan(plot: uPlot, now: number, spanMillis: number): void {
  plot.setScale('x', { min: (now - spanMillis) / 1000, max: now / 1000 });
}

function optionsOf(element: HTMLElement, series: readonly Series[], format: (value: number) => string): uPlot.Options {
  const colours = getComputedStyle(element);
  const colour = (name: string): string => colours.getPropertyValue(name).trim();
  const axis = { stroke: colour('--text-quiet'), ticks: { show: false }, font: '11px system-ui', gap: 2 };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    padding: [6, 8, 0, 0],
    scales: { x: { time: true, auto: false }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, size: 18, space: 64, grid: { show: false }, values: '{HH}:{mm}' },
      {
        ...axis,
        size: 52,
        space: 28,
        grid: { stroke: colour('--line'), width: 1 },
        values: (_, splits) => splits.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, colour: name }) => ({
        label,
        stroke: colour(name),
        width: 1.5,
        spanGaps: false,
        points: { size: 4, show: isSparse },
      })),
    ],
  };
}

/** A line needs two values: as long as there are few, each is a point. */
const FEW_VALUES = 20;
const isSparse = (plot: uPlot): boolean => (plot.data[0]?.length ?? 0) < FEW_VALUES;

/** Another value when the system changes between light and dark: a canvas does not follow by itself. */
function useTheme(): boolean {
  const query = '(prefers-color-scheme: dark)';
  const [isDark, setDark] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = (): void => setDark(list.matches);
    list.addEventListener('change', changed);
    return () => list.removeEventListener('change', changed);
  }, []);
  return isDark;
}
