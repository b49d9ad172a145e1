/** What the control plane has and does: health, counts, load, recent changes, warnings, namespaces. */
import { useConsole } from '../../app/console.ts';
import { useTitle } from '../../app/use.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { Counts } from './counts.tsx';
import { EventList } from './event-list.tsx';
import { HealthCard } from './health.tsx';
import { Load } from './load.tsx';
import { Namespaces } from './namespaces.tsx';
import { Recent } from './recent.tsx';
import './overview.css';

export default function Overview() {
  const { location } = useConsole();
  const { namespace } = location.route.value;
  useTitle('Overview');
  return (
    <div class="overview">
      <header>
        <h1>{namespace === undefined ? 'Overview' : `Overview of ${visibleText(namespace)}`}</h1>
        <HealthCard />
      </header>
      <Counts namespace={namespace} />
      {namespace === undefined && <Load />}
      <div class="columns">
        <Recent namespace={namespace} />
        <section aria-labelledby="warnings-title">
          <h2 id="warnings-title">Warnings</h2>
          <EventList namespace={namespace} fieldSelector="type=Warning" />
        </section>
      </div>
      {namespace === undefined && <Namespaces />}
    </div>
  );
}
