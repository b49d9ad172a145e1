/** Asks before an object is deleted: what goes along with it, and what keeps it. */
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import type { ObjectReference } from '../../../api/kinds.ts';
import type { ApiObject } from '../../../api/objects.ts';
import { useConsole } from '../../../app/console.ts';
import { useLoaded } from '../../../app/use.ts';
import { ConfirmDialog } from '../../../parts/dialog.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { type Branch, countsOf, dependentsOf, readFamily } from '../family.ts';
import { deleteObject, type Propagation } from './changes.ts';

export interface DeleteDialogProps {
  readonly object: ObjectReference;
  readonly value: ApiObject;
  readonly onClose: () => void;
}

export function DeleteDialog({ object, value, onClose }: DeleteDialogProps) {
  const { api, discovery, toasts } = useConsole();
  const [propagation, setPropagation] = useState<Propagation>('Background');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const { uid, finalizers = [] } = value.metadata;
  const family = useLoaded((signal) => readFamily(api, discovery.kinds.peek(), object.namespace, signal), [uid]);
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await deleteObject(api, object, uid, propagation);
      toasts.done(finalizers.length > 0 ? `${object.name} is being deleted.` : `${object.name} was deleted.`);
      onClose();
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog
      title={`Delete ${object.kind.kind} ${visibleText(object.name)}?`}
      action="Delete"
      isBusy={isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      {error !== undefined && <ErrorBox error={error} />}
      {object.kind.group === '' && object.kind.resource === 'namespaces' && <p>Everything in the namespace is deleted with it.</p>}
      <Finalizers names={finalizers} />
      {family.phase === 'loading' && <Progress label="Looking for what goes along…" />}
      {family.phase === 'ready' && (
        <GoesAlong
          branches={dependentsOf(uid, family.value.objects)}
          unread={family.value.unread}
          value={propagation}
          onChange={setPropagation}
        />
      )}
      {family.phase === 'failed' && <p class="quiet">What goes along could not be read: {family.error.message}</p>}
    </ConfirmDialog>
  );
}

function Finalizers({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div>
      <p>The object stays, marked as being deleted, until whoever set these finalizers has removed them:</p>
      <ul class="bullets">
        {names.map((name) => (
          <li key={name}>
            <code>{visibleText(name)}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface GoesAlongProps {
  readonly branches: readonly Branch[];
  readonly unread: readonly string[];
  readonly value: Propagation;
  readonly onChange: (value: Propagation) => void;
}
const choices: readonly (readonly [Propagation, string])[] = [
  ['Background', 'Delete them as well, after the object'],
  ['Foreground', 'Delete them first; the object goes last'],
  ['Orphan', 'Keep them without an owner'],
];
/** Names that are listed before the rest is only counted. */
const NAMED = 10;

function GoesAlong({ branches, unread, value, onChange }: GoesAlongProps) {
  const unknown = unread.length > 0 && <p class="quiet">There may be more: you may not list {unread.join(', ')}.</p>;
  if (branches.length === 0)
    return (
      <div>
        <p>It owns nothing: nothing else goes along.</p>
        {unknown}
      </div>
    );
  const counts = [...countsOf(branches)].map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`);
  return (
    <div class="goes-along">
      <p>
        It owns <strong>{counts.join(', ')}</strong>:
      </p>
      <ul class="bullets">
        {branches.slice(0, NAMED).map(({ object }) => (
          <li key={object.metadata.uid}>
            <span class="quiet">{object.kind.kind}</span> {visibleText(object.metadata.name)}
          </li>
        ))}
        {branches.length > NAMED && <li class="quiet">and {branches.length - NAMED} more</li>}
      </ul>
      {unknown}
      <fieldset>
        <legend>What becomes of them</legend>
        {choices.map(([choice, label]) => (
          <label key={choice}>
            <input type="radio" name="propagation" checked={value === choice} onChange={() => onChange(choice)} /> {label}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
