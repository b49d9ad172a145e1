/** What would be stored, before it is: the differences that the server found in a dry run. */
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { DiffView } from './diff-view.tsx';

export interface ReviewDialogProps {
  readonly title: string;
  readonly action: string;
  readonly before: string;
  readonly after: string;
  /** Rejects with the error that is shown. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

export function ReviewDialog({ title, action, before, after, onConfirm, onClose }: ReviewDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const isSame = before === after;
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose} class="wide-dialog">
      {error !== undefined && <ErrorBox error={error} />}
      {isSame ? <p>The object would stay as it is.</p> : <DiffView before={before} after={after} label="Differences" />}
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={isBusy || isSame} onClick={() => void confirm()}>
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
