/**
 * Metrics in the Prometheus text format. A series is looked up once and kept as a handle, so that the request path only adds
 * to a number:
 *
 *   const requests = metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['verb', 'code'], stability: 'STABLE' });
 *   const gets = requests.with('GET', '200');      // once
 *   gets.inc();                                    // per request
 *
 * The life of a metric: a STABLE one that is deprecated keeps being shown with `(Deprecated from x.y)` before its help. Three
 * releases after its deprecation it is hidden, unless --show-hidden-metrics-for-version names the last release; one
 * release later it is gone. An ALPHA one is hidden as soon as it is deprecated.
 */
import { own } from './own.ts';
import type { Work } from './slices.ts';
import { releasesOf, supportLengths } from './support-lengths.ts';

export type Stability = 'ALPHA' | 'STABLE';

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** ALPHA when it is not given. */
  readonly stability?: Stability;
  /** Release that deprecated the metric: `1.22`. */
  readonly deprecated?: string;
  /** Series beyond this many share one that is not shown, so that labels from outside cannot fill the memory. */
  readonly maxSeries?: number;
}
export interface HistogramDefinition extends MetricDefinition {
  /** Upper bounds, ascending, without the infinite one. */
  readonly buckets: readonly number[];
}

export class Counter {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
}
export class Gauge {
  value = 0;
  set(value: number): void {
    this.value = value;
  }
  inc(by = 1): void {
    this.value += by;
  }
  dec(by = 1): void {
    this.value -= by;
  }
}
export class Histogram {
  readonly bounds: readonly number[];
  /** How many fell into each bucket alone; the last is beyond all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }
  observe(value: number): void {
    const bounds = this.bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    this.counts[low] = (this.counts[low] as number) + 1;
    this.sum += value;
  }
}

/** Lines of a piece of a scrape: a millisecond's work. */
const PIECE_LINES = 500;

type Branch<S> = Map<string, Branch<S> | S>;

/** A metric with all its series. */
export class Family<S> {
  readonly name: string;
  readonly labels: readonly string[];
  readonly head: string;
  private readonly make: () => S;
  private readonly print: (out: string[], name: string, labels: string, series: S) => void;
  private readonly root: Branch<S> = new Map();
  private readonly beyond: S;
  private readonly maxSeries: number;
  private count = 0;

  constructor(
    definition: MetricDefinition,
    type: string,
    help: string,
    make: () => S,
    print: (out: string[], name: string, labels: string, series: S) => void,
  ) {
    this.name = definition.name;
    this.labels = definition.labels ?? [];
    this.head = `# HELP ${this.name} ${escapeHelp(help)}\n# TYPE ${this.name} ${type}\n`;
    this.make = make;
    this.print = print;
    this.beyond = make();
    this.maxSeries = definition.maxSeries ?? 10_000;
    // A metric without labels has its one series from the start, so that it is shown as zero.
    if (this.labels.length === 0) this.with();
  }
  /** The series of these label values, in the order of the definition. Keep it. */
  with(...values: string[]): S {
    if (values.length !== this.labels.length) throw new Error(`${this.name} has ${this.labels.length} labels, not ${values.length}`);
    let branch = this.root;
    for (let i = 0; i < values.length - 1; i++) {
      let next = branch.get(values[i] as string) as Branch<S> | undefined;
      if (next === undefined) {
        if (this.count >= this.maxSeries) return this.beyond;
        next = new Map();
        branch.set(values[i] as string, next);
      }
      branch = next;
    }
    const last = values.at(-1) ?? '';
    let series = branch.get(last) as S | undefined;
    if (series === undefined) {
      if (this.count >= this.maxSeries) return this.beyond;
      series = this.make();
      branch.set(last, series);
      this.count++;
    }
    return series;
  }
  /** Forgets a series, for example that of a kind that is no longer served. */
  remove(...values: string[]): void {
    let branch: Branch<S> | undefined = this.root;
    for (let i = 0; i < values.length - 1 && branch !== undefined; i++) branch = branch.get(values[i] as string) as Branch<S> | undefined;
    if (branch?.delete(values.at(-1) ?? '')) this.count--;
  }
  /** Forgets every series with these values, whatever its other labels are. */
  removeMatching(labelValues: Readonly<Record<string, string>>): void {
    this.count -= this.prune(this.root, 0, labelValues);
  }
  /** Returns how many series went. */
  private prune(branch: Branch<S>, depth: number, labelValues: Readonly<Record<string, string>>): number {
    const value = own(labelValues, this.labels[depth] as string);
    const last = depth === this.labels.length - 1;
    let removed = 0;
    for (const key of value === undefined ? [...branch.keys()] : [value]) {
      const next = branch.get(key);
      if (next === undefined) continue;
      if (last) removed++;
      else removed += this.prune(next as Branch<S>, depth + 1, labelValues);
      if (last || (next as Branch<S>).size === 0) branch.delete(key);
    }
    return removed;
  }
  /** Forgets all series; those that are counted again at every scrape begin with this. */
  clear(): void {
    this.root.clear();
    this.count = 0;
  }
  /** Adds all lines to `out`; yields whenever that holds `PIECE_LINES` or more, to be taken out. */
  *expose(out: string[]): Work<void> {
    if (this.count === 0) return;
    out.push(this.head);
    if (this.labels.length === 0) this.print(out, this.name, '', this.root.get('') as S);
    else yield* this.walk(out, this.root, 0, '');
  }
  private *walk(out: string[], branch: Branch<S>, depth: number, labels: string): Work<void> {
    for (const [value, next] of branch) {
      const text = `${labels === '' ? '' : `${labels},`}${this.labels[depth]}="${escapeLabel(value)}"`;
      if (depth < this.labels.length - 1) yield* this.walk(out, next as Branch<S>, depth + 1, text);
      else {
        this.print(out, this.name, text, next as S);
        if (out.length >= PIECE_LINES) yield;
      }
    }
  }
}

const braces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);
function printNumber(out: string[], name: string, labels: string, series: { value: number }): void {
  out.push(`${name}${braces(labels)} ${formatNumber(series.value)}\n`);
}
function printHistogram(out: string[], name: string, labels: string, series: Histogram): void {
  const labelPrefix = labels === '' ? '' : `${labels},`;
  let total = 0;
  for (let i = 0; i < series.counts.length; i++) {
    total += series.counts[i] as number;
    const bound = i === series.bounds.length ? '+Inf' : formatNumber(series.bounds[i] as number);
    out.push(`${name}_bucket{${labelPrefix}le="${bound}"} ${total}\n`);
  }
  out.push(`${name}_sum${braces(labels)} ${formatNumber(series.sum)}\n${name}_count${braces(labels)} ${total}\n`);
}
function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeLabel = (text: string): string => (/[\\\n"]/.test(text) ? text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n') : text);

// ---- the registry ----------------------------------------------------------------------------------------------

export interface MetricsOptions {
  /** Release of the API that the server speaks: `1.24`. */
  readonly version: string;
  /** `--show-hidden-metrics-for-version`: the release before this one, whose metrics are shown once more. */
  readonly showHiddenFor?: string;
  /** Called with the name of a deprecated metric that is exposed, and the release that deprecated it. */
  readonly warn?: (metric: string, deprecatedSince: string) => void;
}

const minorOf = (version: string): number => {
  const match = /^1\.(\d{1,4})$/.exec(version);
  if (match === null) throw new Error(`the version ${JSON.stringify(version)} is not of the form 1.24`);
  return Number(match[1]);
};
/** Releases for which a deprecated metric is shown. */
const hiddenAfter: Readonly<Record<Stability, number>> = {
  STABLE: releasesOf(supportLengths.metric.STABLE),
  ALPHA: releasesOf(supportLengths.metric.ALPHA),
};

export class Metrics {
  private readonly families = new Map<string, Family<unknown>>();
  private readonly collectors: (() => void)[] = [];
  private readonly minor: number;
  private readonly showHidden: boolean;
  private readonly warn: (metric: string, deprecatedSince: string) => void;

  /** Throws when the version to show hidden metrics for is not the one before the current. */
  constructor(options: MetricsOptions) {
    this.minor = minorOf(options.version);
    this.warn = options.warn ?? (() => {});
    this.showHidden = options.showHiddenFor !== undefined && options.showHiddenFor !== '';
    if (this.showHidden && minorOf(options.showHiddenFor as string) !== this.minor - 1) {
      throw new Error(
        `only metrics hidden since the previous release, 1.${this.minor - 1}, can be shown, not since ${options.showHiddenFor}`,
      );
    }
  }
  counter(definition: MetricDefinition): Family<Counter> {
    return this.register(definition, 'counter', () => new Counter(), printNumber);
  }
  gauge(definition: MetricDefinition): Family<Gauge> {
    return this.register(definition, 'gauge', () => new Gauge(), printNumber);
  }
  histogram(definition: HistogramDefinition): Family<Histogram> {
    const bounds = [...definition.buckets];
    return this.register(definition, 'histogram', () => new Histogram(bounds), printHistogram);
  }
  /** Called before each scrape, to set gauges that are cheaper to ask than to keep. */
  onCollect(collect: () => void): void {
    this.collectors.push(collect);
  }
  /** The whole text of a scrape. */
  expose(): string {
    return [...this.pieces()].join('');
  }
  /**
   * The text of a scrape piece by piece, for callers that yield between them. Not for two scrapes at a time: what is counted again
   * at every scrape would be shown twice by the first.
   */
  *pieces(): Generator<string, void, void> {
    for (const collect of this.collectors) collect();
    const out: string[] = [];
    for (const name of [...this.families.keys()].sort()) {
      for (const _ of (this.families.get(name) as Family<unknown>).expose(out)) {
        yield out.join('');
        out.length = 0;
      }
    }
    if (out.length > 0) yield out.join('');
  }
  private register<S>(
    definition: MetricDefinition,
    type: string,
    make: () => S,
    print: (out: string[], name: string, labels: string, series: S) => void,
  ): Family<S> {
    if (this.families.has(definition.name)) throw new Error(`the metric ${definition.name} is registered twice`);
    const stability = definition.stability ?? 'ALPHA';
    const deprecation = definition.deprecated === undefined ? '' : `(Deprecated from ${definition.deprecated}) `;
    const family = new Family(definition, type, `[${stability}] ${deprecation}${definition.help}`, make, print);
    if (this.isShown(definition, stability)) this.families.set(definition.name, family as Family<unknown>);
    return family;
  }
  /** A metric that is not shown still counts, so that callers need not know. */
  private isShown(definition: MetricDefinition, stability: Stability): boolean {
    if (definition.deprecated === undefined) return true;
    const releases = this.minor - minorOf(definition.deprecated);
    if (releases < 0) return true;
    if (releases < hiddenAfter[stability] || (this.showHidden && releases === hiddenAfter[stability])) {
      this.warn(definition.name, definition.deprecated);
      return true;
    }
    return false;
  }
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `count` bounds from `start`, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => start * factor ** i);
}
