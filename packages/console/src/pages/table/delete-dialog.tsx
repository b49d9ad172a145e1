import { useRef, useState } from 'preact/hooks';
import type { Row } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { type DeleteResult, deleteRows } from './delete-rows.ts';

const LISTED = 10;

export interface DeleteDialogProps {
  readonly kind: Kind;
  readonly rows: readonly Row[];
  readonly onClose: (isDone: boolean) => void;
}

export function DeleteDialog({ kind, rows, onClose }: DeleteDialogProps) {
  const { api, toasts } = useConsole();
  const [done, setDone] = useState<number | undefined>(undefined);
  const abort = useRef(new AbortController());
  const what =
    rows.length === 1 ? `${kind.kind} ${visibleText(rows[0]?.key ?? '')}` : `${rows.length.toLocaleString('en')} ${kind.resource}`;
  const confirm = async (): Promise<void> => {
    setDone(0);
    report(await deleteRows(api, kind, rows, setDone, abort.current.signal));
    onClose(true);
  };
  const report = ({ deleted, failures }: DeleteResult): void => {
    if (deleted > 0) toasts.done(deleted === rows.length ? `Deleted ${what}.` : `Deleted ${deleted} of ${what}.`);
    const [first] = failures;
    if (first !== undefined) toasts.failed(`${failures.length} could not be deleted. ${first.key}: ${first.message}`);
  };
  return (
    <ConfirmDialog
      title={`Delete ${what}?`}
      action="Delete"
      isBusy={done !== undefined}
      onConfirm={() => void confirm()}
      onClose={() => {
        abort.current.abort();
        onClose(false);
      }}
    >
      {rows.length > 1 && (
        <ul>
          {rows.slice(0, LISTED).map(({ key }) => (
            <li key={key}>{visibleText(key)}</li>
          ))}
          {rows.length > LISTED && <li class="quiet">and {(rows.length - LISTED).toLocaleString('en')} more</li>}
        </ul>
      )}
      <p role="status">
        {done === undefined
          ? 'What belongs to it is deleted as well. This cannot be undone.'
          : `${done.toLocaleString('en')} of ${rows.length.toLocaleString('en')} done…`}
      </p>
    </ConfirmDialog>
  );
}
