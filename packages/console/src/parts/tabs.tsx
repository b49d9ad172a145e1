/** Tabs whose choice stands in the URL. */
import { useConsole } from '../app/console.ts';

export interface Tab {
  readonly id: string;
  readonly title: string;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key as 'ArrowRight' | 'ArrowLeft'];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === selected);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onSelect(next.id);
    document.getElementById(tabId(next.id))?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, title }) => (
        <button
          key={id}
          id={tabId(id)}
          type="button"
          role="tab"
          aria-selected={id === selected}
          aria-controls="tab-panel"
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
const tabId = (id: string): string => `tab-${id}`;

/** The tab that the URL names, or the first. */
export function useTab(tabs: readonly Tab[]): [string, (id: string) => void] {
  const { location } = useConsole();
  const named = location.route.value.query.get('tab');
  const selected = tabs.find(({ id }) => id === named)?.id ?? tabs[0]?.id ?? '';
  return [selected, (id) => location.setQuery({ tab: id === tabs[0]?.id ? undefined : id })];
}
