/** Who owns which field of the object, by manager. */

import { useLiveObject } from '../../../app/live-object.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { shortText, visibleText } from '../../../parts/visible-text.ts';
import { fieldsOf, ownerOf } from '../yaml/owner-lines.ts';
import './owners.css';

export default function OwnersTab() {
  const live = useLiveObject();
  const fields = fieldsOf(live.value);
  const byOwner = new Map<string, string[]>();
  for (const { field, owners } of fields)
    for (const owner of owners) {
      const { title } = ownerOf(owner);
      byOwner.set(title, [...(byOwner.get(title) ?? []), field]);
    }
  if (byOwner.size === 0)
    return (
      <EmptyState title="No field has an owner">
        <p>
          The server does not say who set the fields of this object. It tracks owners from the next change on, unless it was told not to.
        </p>
      </EmptyState>
    );
  return (
    <div class="owners">
      <p class="quiet">
        An apply of one manager conflicts with fields that another one owns. The tab with the YAML has the owners beside their lines.
      </p>
      {[...byOwner].map(([title, names]) => (
        <OwnerSection key={title} title={title} names={names} />
      ))}
    </div>
  );
}

/** More are in the YAML. */
const SHOWN = 200;

function OwnerSection({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  return (
    <details open={names.length <= 30}>
      <summary>
        <strong>{visibleText(title)}</strong> <span class="quiet">{names.length === 1 ? '1 field' : `${names.length} fields`}</span>
      </summary>
      <ul>
        {names.slice(0, SHOWN).map((name) => (
          <li key={name}>
            <code>{shortText(visibleText(name), 300)}</code>
          </li>
        ))}
        {names.length > SHOWN && <li class="quiet">and {names.length - SHOWN} more</li>}
      </ul>
    </details>
  );
}
