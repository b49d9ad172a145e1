/** One object: its name, and tabs that show it from several sides. */

import type { ObjectReference } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { Lazy } from '../../app/lazy.tsx';
import { objectTabs } from '../../app/page-modules.ts';
import { type ObjectRoute, tableHref } from '../../app/routes.ts';
import { useKeys, useTitle } from '../../app/use.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Tabs, useTab } from '../../parts/tabs.tsx';
import { UnknownKind } from '../../parts/unknown-kind.tsx';
import { visibleText } from '../../parts/visible-text.ts';

export default function ObjectPage({ route: { kind: reference, namespace, name } }: { readonly route: ObjectRoute }) {
  const { discovery } = useConsole();
  useTitle(name);
  const kind = discovery.find(reference);
  if (kind === undefined) return <UnknownKind kind={reference} />;
  return <ObjectTabs object={{ kind, namespace: kind.isNamespaced ? namespace : undefined, name }} />;
}

function ObjectTabs({ object }: { readonly object: ObjectReference }) {
  const { kind, namespace, name } = object;
  const tabs = objectTabs.filter(({ isFor }) => isFor?.(object) !== false);
  const [selected, select] = useTab(tabs);
  const key = `${kind.group}/${kind.resource}/${namespace}/${name}`;
  useKeys(
    tabs.flatMap((tab) => (tab.key === undefined ? [] : [{ key: tab.key, label: `Show ${tab.title}`, run: () => select(tab.id) }])),
    [key],
  );
  const tab = tabs.find(({ id }) => id === selected);
  return (
    <article class="object">
      <header class="page-head">
        <p class="quiet">
          <a href={tableHref(kind, namespace)}>{kind.kind}</a>
          {namespace !== undefined && ` in ${visibleText(namespace)}`}
        </p>
        <h1>
          {visibleText(name)} <CopyButton text={name} label="Copy name" />
        </h1>
      </header>
      <Tabs label={`Views of ${name}`} tabs={tabs} selected={selected} onSelect={select} />
      <div id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={`tab-${selected}`}>
        {tab !== undefined && <Lazy key={key} name={tab.id} load={tab.load} props={{ object }} />}
      </div>
    </article>
  );
}
