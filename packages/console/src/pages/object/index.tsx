/** One object: its name, what can be done with it, and tabs that show it from several sides. */

import type { ComponentChildren } from 'preact';
import type { ObjectReference } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { Lazy } from '../../app/lazy.tsx';
import { LiveObject, LiveObjectContext } from '../../app/live-object.ts';
import { objectTabs } from '../../app/page-modules.ts';
import { type ObjectRoute, tableHref } from '../../app/routes.ts';
import { useKeys, useOpened, useTitle } from '../../app/use.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Tabs, useTab } from '../../parts/tabs.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { UnknownKind } from '../../parts/unknown-kind.tsx';
import { shortText, visibleText } from '../../parts/visible-text.ts';
import { Actions } from './actions/actions.tsx';
import './object.css';

export default function ObjectPage({ route: { kind: reference, namespace, name } }: { readonly route: ObjectRoute }) {
  const { discovery } = useConsole();
  useTitle(shortText(visibleText(name), 100));
  const kind = discovery.find(reference);
  if (kind === undefined) return <UnknownKind kind={reference} />;
  const object = { kind, namespace: kind.isNamespaced ? namespace : undefined, name };
  return <ObjectTabs key={`${kind.group}/${kind.version}/${kind.resource}/${namespace}/${name}`} object={object} />;
}

function ObjectTabs({ object }: { readonly object: ObjectReference }) {
  const { api, watches, clock } = useConsole();
  const live = useOpened(() => new LiveObject({ api, watches, clock, object }), []);
  const tabs = objectTabs.filter(({ isFor }) => isFor?.(object) !== false);
  const [selected, select] = useTab(tabs);
  useKeys(
    tabs.flatMap((tab) => (tab.key === undefined ? [] : [{ key: tab.key, label: `Show ${tab.title}`, run: () => select(tab.id) }])),
    [],
  );
  const tab = tabs.find(({ id }) => id === selected);
  return (
    <LiveObjectContext.Provider value={live}>
      <article class="object">
        <Head live={live} onEdit={() => select('yaml')} />
        <Tabs label={`Views of ${visibleText(object.name)}`} tabs={tabs} selected={selected} onSelect={select} />
        <div id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={`tab-${selected}`}>
          <Notices live={live} />
          <TabContent live={live} isHistory={tab?.id === 'history'}>
            {tab !== undefined && <Lazy name={tab.id} load={tab.load} props={{ object }} />}
          </TabContent>
        </div>
      </article>
    </LiveObjectContext.Provider>
  );
}

function Head({ live, onEdit }: { readonly live: LiveObject; readonly onEdit: () => void }) {
  const { kind, namespace, name } = live.reference;
  const state = live.state.value;
  return (
    <header class="page-head">
      <div>
        <p class="quiet">
          <a href={tableHref(kind, namespace)}>{kind.kind}</a>
          {namespace !== undefined && ` in ${visibleText(namespace)}`}
        </p>
        <h1>
          {visibleText(name)} <CopyButton text={name} label="Copy name" />
        </h1>
      </div>
      {state.phase === 'ready' && <Actions object={live.reference} value={state.value} onEdit={onEdit} />}
    </header>
  );
}

/** What everybody who looks at the object should know, on every tab. */
function Notices({ live }: { readonly live: LiveObject }) {
  const state = live.state.value;
  if (state.phase === 'deleted')
    return (
      <p class="notice" role="status">
        ○ This object was deleted. You see what it was last.
      </p>
    );
  if (state.phase !== 'ready') return null;
  const { deletionTimestamp, finalizers = [] } = state.value.metadata;
  return (
    <>
      {deletionTimestamp !== undefined && (
        <p class="notice" role="status">
          ◐ Being deleted for <TimeAgo time={deletionTimestamp} />.{' '}
          {finalizers.length > 0 && <>It stays until these finalizers are removed: {finalizers.map(visibleText).join(', ')}.</>}
        </p>
      )}
      {!state.isLive && <p class="notice">You may read this object but not watch it: changes appear when the page is loaded again.</p>}
    </>
  );
}

interface TabContentProps {
  readonly live: LiveObject;
  readonly isHistory: boolean;
  readonly children: ComponentChildren;
}
/** History is there also for an object that is gone. */
function TabContent({ live, isHistory, children }: TabContentProps) {
  const state = live.state.value;
  const { kind, namespace } = live.reference;
  if (state.phase === 'loading') return <Progress />;
  if (state.phase === 'failed') return <ErrorBox error={state.error} />;
  if (state.phase === 'missing' && !isHistory)
    return (
      <EmptyState title={`There is no such ${kind.kind}`}>
        <p>
          It was deleted, or the address is wrong. See <a href={tableHref(kind, namespace)}>all of this kind</a>, or its history if the
          server keeps it.
        </p>
      </EmptyState>
    );
  return <>{children}</>;
}
