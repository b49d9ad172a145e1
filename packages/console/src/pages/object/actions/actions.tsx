/** What can be done with the object, at its head. */
import { useState } from 'preact/hooks';
import type { ObjectReference } from '../../../api/kinds.ts';
import type { ApiObject } from '../../../api/objects.ts';
import { numberAt } from '../../../api/values.ts';
import { useConsole } from '../../../app/console.ts';
import { useKeys } from '../../../app/use.ts';
import { ConfirmDialog } from '../../../parts/dialog.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { canRestart, canScale, restartObject } from './changes.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { ScaleDialog } from './scale-dialog.tsx';

type Open = 'delete' | 'scale' | 'restart' | undefined;

export interface ActionsProps {
  readonly object: ObjectReference;
  readonly value: ApiObject;
  readonly onEdit: () => void;
}

export function Actions({ object, value, onEdit }: ActionsProps) {
  const [open, setOpen] = useState<Open>(undefined);
  const { verbs } = object.kind;
  const canEdit = verbs.includes('update');
  const canDelete = verbs.includes('delete');
  const close = (): void => setOpen(undefined);
  useKeys(
    [
      ...(canEdit ? [{ key: 'e', label: 'Edit', run: onEdit }] : []),
      ...(canDelete ? [{ key: 'd', label: 'Delete', run: () => setOpen('delete') }] : []),
    ],
    [canEdit, canDelete],
  );
  return (
    <div class="actions">
      {canEdit && (
        <button type="button" onClick={onEdit}>
          Edit
        </button>
      )}
      {canScale(object) && (
        <button type="button" onClick={() => setOpen('scale')}>
          Scale
        </button>
      )}
      {canRestart(object) && (
        <button type="button" onClick={() => setOpen('restart')}>
          Restart
        </button>
      )}
      {canDelete && (
        <button type="button" class="danger" onClick={() => setOpen('delete')}>
          Delete
        </button>
      )}
      {open === 'delete' && <DeleteDialog object={object} value={value} onClose={close} />}
      {open === 'scale' && <ScaleDialog object={object} current={numberAt(value, 'spec', 'replicas') ?? 1} onClose={close} />}
      {open === 'restart' && <RestartDialog object={object} onClose={close} />}
    </div>
  );
}

function RestartDialog({ object, onClose }: { readonly object: ObjectReference; readonly onClose: () => void }) {
  const { api, clock, toasts } = useConsole();
  const [isBusy, setBusy] = useState(false);
  const restart = async (): Promise<void> => {
    setBusy(true);
    try {
      await restartObject(api, object, new Date(clock.now()));
      toasts.done(`The pods of ${object.name} are being replaced.`);
    } catch (error) {
      toasts.failed((error as Error).message);
    }
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Restart ${visibleText(object.name)}?`}
      action="Restart"
      isBusy={isBusy}
      onConfirm={() => void restart()}
      onClose={onClose}
    >
      <p>Its pods are replaced by new ones, step by step, as its update strategy says. The template gets an annotation with the time.</p>
    </ConfirmDialog>
  );
}
