/** The summary: what matters of a kind, what happened to the object, and what all objects have. */
import { useConsole } from '../../../app/console.ts';
import { useLiveObject } from '../../../app/live-object.ts';
import { useLoaded } from '../../../app/use.ts';
import { Progress } from '../../../parts/progress.tsx';
import { timelineOf } from '../conditions.ts';
import { readSchema } from '../openapi/read-schema.ts';
import { ShownValue } from '../parts/shown-value.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Metadata } from './metadata.tsx';
import { podSelector } from './own-pods.ts';
import { OwnPods } from './pods-section.tsx';
import type { Fact, FactTable } from './summary.ts';
import { hasOwnSummary, summaryOf } from './summary-of.ts';

export default function SummaryTab() {
  const { api, discovery } = useConsole();
  const live = useLiveObject();
  const { kind, namespace } = live.reference;
  const schema = useLoaded((signal) => (hasOwnSummary(kind) ? Promise.resolve(undefined) : readSchema(api, kind, signal)), [kind]);
  const { value } = live;
  if (value === undefined || schema.phase === 'loading') return <Progress />;
  const { facts, tables } = summaryOf(kind, value, schema.phase === 'ready' ? schema.value : undefined);
  const selector = podSelector(kind, value);
  const podKind = discovery.find({ group: '', version: 'v1', resource: 'pods' });
  return (
    <div class="summary">
      {facts.length > 0 && (
        <section aria-label={kind.kind}>
          <h2>{kind.kind}</h2>
          <Facts facts={facts} />
        </section>
      )}
      <section aria-label="What happened">
        <h2>What happened</h2>
        <Timeline entries={timelineOf(value)} />
      </section>
      {selector !== '' && podKind !== undefined && <OwnPods podKind={podKind} namespace={namespace} selector={selector} />}
      {tables.map((table) => (
        <TableOfFacts key={table.title} table={table} />
      ))}
      <Metadata object={value} />
    </div>
  );
}

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ label, value, hint }) => (
        <div key={label}>
          <dt title={hint}>{label}</dt>
          <dd>
            <ShownValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function TableOfFacts({ table: { title, columns, rows, empty } }: { readonly table: FactTable }) {
  if (rows.length === 0 && empty === undefined) return null;
  return (
    <section class="wide" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">{empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the page is scrolled by keys as well.
        <section class="scroller" tabIndex={0} aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, j) => (
                    <td key={columns[j]}>
                      <ShownValue value={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
