import { registerProcessMetrics } from '@plat-dev/compose/background/metrics-process';
import { describe, expect, test } from 'vitest';
import { exponentialBuckets, Metrics } from './metrics.ts';
import fc from './testing/fast-check.testing.ts';

test('the text of a scrape', () => {
  const metrics = new Metrics({ version: '1.24' });
  const requests = metrics.counter({ name: 'requests_total', help: 'Requests\nby verb.', labels: ['verb', 'code'], stability: 'STABLE' });
  const get = requests.with('GET', '200');
  get.inc();
  get.inc(2);
  requests.with('GET', '404').inc();
  requests.with('a"b\\c\nd', '').inc(0.5);
  metrics.gauge({ name: 'open', help: 'Open.' }).with().set(7);
  metrics.counter({ name: 'never', help: 'Labelled, never seen.', labels: ['x'] });
  const took = metrics.histogram({ name: 'took_seconds', help: 'Duration.', labels: ['verb'], buckets: [0.1, 1] }).with('GET');
  for (const value of [0.1, 0.5, 0.5, 2]) took.observe(value);
  expect(metrics.expose()).toBe(`# HELP open [ALPHA] Open.
# TYPE open gauge
open 7
# HELP requests_total [STABLE] Requests\\nby verb.
# TYPE requests_total counter
requests_total{verb="GET",code="200"} 3
requests_total{verb="GET",code="404"} 1
requests_total{verb="a\\"b\\\\c\\nd",code=""} 0.5
# HELP took_seconds [ALPHA] Duration.
# TYPE took_seconds histogram
took_seconds_bucket{verb="GET",le="0.1"} 1
took_seconds_bucket{verb="GET",le="1"} 3
took_seconds_bucket{verb="GET",le="+Inf"} 4
took_seconds_sum{verb="GET"} 3.1
took_seconds_count{verb="GET"} 4
`);
});

test('the same labels lead to the same series', () => {
  const family = new Metrics({ version: '1.24' }).gauge({ name: 'g', help: '', labels: ['a', 'b'] });
  expect(family.with('x', 'y')).toBe(family.with('x', 'y'));
  expect(family.with('x', 'y')).not.toBe(family.with('x', 'z'));
  expect(() => family.with('x')).toThrow('g has 2 labels, not 1');
});

test('series beyond the bound are counted nowhere', () => {
  const metrics = new Metrics({ version: '1.24' });
  const family = metrics.counter({ name: 'c', help: '', labels: ['path'], maxSeries: 2 });
  for (let i = 0; i < 10; i++) family.with(`/${i}`).inc();
  expect(metrics.expose().match(/^c\{/gm)).toHaveLength(2);
  family.remove('/0');
  family.with('/new').inc();
  expect(metrics.expose()).toContain('c{path="/new"} 1');
  family.clear();
  expect(metrics.expose()).toBe('');
});

test('a scrape comes in pieces of some hundred lines, which are the whole together', () => {
  const metrics = new Metrics({ version: '1.24' });
  const family = metrics.histogram({ name: 'h', help: '', labels: ['a', 'b'], buckets: [1, 2, 3] });
  for (let i = 0; i < 1_000; i++) family.with(String(i % 7), String(i)).observe(i);
  const pieces = [...metrics.pieces()];
  for (const piece of pieces) expect(piece.split('\n').length).toBeLessThan(700);
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join('')).toBe(metrics.expose());
});

test('a name can be registered once', () => {
  const metrics = new Metrics({ version: '1.24' });
  metrics.counter({ name: 'c', help: '' });
  expect(() => metrics.gauge({ name: 'c', help: '' })).toThrow('registered twice');
});

describe('the life of a metric, at 1.24', () => {
  const shown = (deprecated: string | undefined, stability: 'STABLE' | 'ALPHA', showHiddenFor?: string): string => {
    const warnings: string[] = [];
    const warn = (metric: string, since: string): unknown => warnings.push(`${metric} ${since}`);
    const metrics = new Metrics({ version: '1.24', warn, ...(showHiddenFor !== undefined && { showHiddenFor }) });
    metrics
      .counter({ name: 'c', help: 'Old.', stability, ...(deprecated !== undefined && { deprecated }) })
      .with()
      .inc();
    const text = metrics.expose();
    return `${text === '' ? 'hidden' : (text.split('\n')[0] as string)}${warnings[0] === `c ${deprecated}` ? ', warned' : ''}`;
  };
  test.each([
    [undefined, 'STABLE', undefined, '# HELP c [STABLE] Old.'],
    ['1.24', 'STABLE', undefined, '# HELP c [STABLE] (Deprecated from 1.24) Old., warned'],
    ['1.22', 'STABLE', undefined, '# HELP c [STABLE] (Deprecated from 1.22) Old., warned'],
    ['1.21', 'STABLE', undefined, 'hidden'],
    ['1.21', 'STABLE', '1.23', '# HELP c [STABLE] (Deprecated from 1.21) Old., warned'],
    ['1.20', 'STABLE', '1.23', 'hidden'],
    ['1.24', 'ALPHA', undefined, 'hidden'],
    ['1.24', 'ALPHA', '1.23', '# HELP c [ALPHA] (Deprecated from 1.24) Old., warned'],
    ['1.23', 'ALPHA', '1.23', 'hidden'],
    ['1.25', 'ALPHA', undefined, '# HELP c [ALPHA] (Deprecated from 1.25) Old.'],
  ] as const)('deprecated %s, %s, showing hidden for %s: %s', (deprecated, stability, show, expected) => {
    expect(shown(deprecated, stability, show)).toBe(expected);
  });
  test('only the release before is accepted', () => {
    expect(() => new Metrics({ version: '1.24', showHiddenFor: '1.22' })).toThrow('1.23, can be shown, not since 1.22');
    expect(() => new Metrics({ version: '1.24', showHiddenFor: 'old' })).toThrow('"old" is not of the form 1.24');
  });
});

test('every observation falls into the first bucket whose bound it does not exceed', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 200, noNaN: true })), (values) => {
      const histogram = new Metrics({ version: '1.24' }).histogram({ name: 'h', help: '', buckets: exponentialBuckets(1, 2, 8) }).with();
      for (const value of values) histogram.observe(value);
      histogram.bounds.forEach((bound, i) => {
        const upTo = histogram.counts.slice(0, i + 1).reduce((a, b) => a + b, 0);
        expect(upTo).toBe(values.filter((v) => v <= bound).length);
      });
      expect(histogram.counts.reduce((a, b) => a + b, 0)).toBe(values.length);
    }),
  );
});

test('the process tells about itself', () => {
  const metrics = new Metrics({ version: '1.24' });
  const end = registerProcessMetrics(metrics, 60);
  expect(metrics.expose()).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m);
  expect(metrics.expose()).toMatch(/^process_cpu_seconds_total \d/m);
  expect(metrics.expose()).toMatch(/^apiserver_time_factor 60$/m);
  end();
});

test('series are forgotten by some of their labels, and make room for others', () => {
  const metrics = new Metrics({ version: '1.24' });
  const family = metrics.counter({ name: 'x_total', help: 'X', labels: ['code', 'group', 'verb'], maxSeries: 3 });
  family.with('200', 'a', 'get').inc();
  family.with('404', 'a', 'list').inc();
  family.with('200', 'b', 'get').inc();
  family.removeMatching({ group: 'a' });
  family.removeMatching({ group: 'none' });
  family.with('200', 'c', 'get').inc();
  family.with('200', 'd', 'get').inc();
  const lines = metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('x_total{'));
  expect(lines).toEqual(['b', 'c', 'd'].map((group) => `x_total{code="200",group="${group}",verb="get"} 1`));
});
