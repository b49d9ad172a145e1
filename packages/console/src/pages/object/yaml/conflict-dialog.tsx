/** Somebody else changed the object while it was edited: what they changed, what I changed, and how to go on. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../../parts/dialog.tsx';
import { ChangeList, FieldName, valueText } from './change-list.tsx';
import type { EditSession, ServerText } from './edit-session.ts';
import { fieldText } from './field-path.ts';
import { type Conflict, changesOf } from './merge-values.ts';
import { parseText } from './places.ts';

export interface ConflictDialogProps {
  readonly session: EditSession;
  readonly theirs: ServerText;
  /** The text with which to go on from their version. */
  readonly onRebase: (text: string) => void;
  readonly onClose: () => void;
}

export function ConflictDialog({ session, theirs, onRebase, onClose }: ConflictDialogProps) {
  const [forTheirs, setForTheirs] = useState<ReadonlySet<string>>(new Set());
  const { conflicts } = session.merge(theirs);
  const decide = ({ path }: Conflict) => (forTheirs.has(fieldText(path)) ? 'theirs' : 'mine');
  const choose = (conflict: Conflict, side: 'mine' | 'theirs'): void => {
    const next = new Set(forTheirs);
    if (side === 'theirs') next.add(fieldText(conflict.path));
    else next.delete(fieldText(conflict.path));
    setForTheirs(next);
  };
  const base = session.base.value.value;
  return (
    <Dialog title="Somebody else changed this object" onClose={onClose} class="wide-dialog">
      <div class="conflict-sides">
        <section>
          <h3>They changed</h3>
          <ChangeList changes={changesOf(base, theirs.value)} />
        </section>
        <section>
          <h3>You changed</h3>
          <ChangeList changes={changesOf(base, parseText(session.text.value).value)} />
        </section>
      </div>
      {conflicts.length > 0 && (
        <section>
          <h3>Both of you changed</h3>
          <ul class="decisions">
            {conflicts.map((conflict) => (
              <li key={fieldText(conflict.path)}>
                <Decision conflict={conflict} side={decide(conflict)} onChoose={(side) => choose(conflict, side)} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <p class="quiet">
        Merging puts your changes on top of theirs in the editor. Nothing is saved yet: you see the result before you save it.
      </p>
      <footer>
        <button type="button" onClick={() => onRebase(theirs.text)}>
          Take theirs
        </button>
        <button type="button" class="danger" onClick={() => onRebase(session.overwriting(theirs))}>
          Keep only mine
        </button>
        <button type="button" class="primary" onClick={() => onRebase(session.merge(theirs, decide).text)}>
          Merge
        </button>
      </footer>
    </Dialog>
  );
}

interface DecisionProps {
  readonly conflict: Conflict;
  readonly side: 'mine' | 'theirs';
  readonly onChoose: (side: 'mine' | 'theirs') => void;
}
function Decision({ conflict, side, onChoose }: DecisionProps) {
  const { path, mine, theirs } = conflict;
  const name = `decision-${fieldText(path)}`;
  return (
    <fieldset>
      <legend>
        <FieldName path={path} />
      </legend>
      <label>
        <input type="radio" name={name} checked={side === 'mine'} onChange={() => onChoose('mine')} /> yours: <code>{valueText(mine)}</code>
      </label>
      <label>
        <input type="radio" name={name} checked={side === 'theirs'} onChange={() => onChoose('theirs')} /> theirs:{' '}
        <code>{valueText(theirs)}</code>
      </label>
    </fieldset>
  );
}
