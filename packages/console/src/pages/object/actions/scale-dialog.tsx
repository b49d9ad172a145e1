import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import type { ObjectReference } from '../../../api/kinds.ts';
import { useConsole } from '../../../app/console.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { scaleObject } from './changes.ts';

export interface ScaleDialogProps {
  readonly object: ObjectReference;
  readonly current: number;
  readonly onClose: () => void;
}

export function ScaleDialog({ object, current, onClose }: ScaleDialogProps) {
  const { api, toasts } = useConsole();
  const [replicas, setReplicas] = useState(current);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const scale = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await scaleObject(api, object, replicas);
      toasts.done(`${object.name} now has ${replicas} replicas to run.`);
      onClose();
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Scale ${visibleText(object.name)}`} onClose={onClose}>
      <form class="scale-form" onSubmit={(event) => void scale(event)}>
        {error !== undefined && <ErrorBox error={error} />}
        <label for="replicas">Replicas</label>
        <span class="stepper">
          <button type="button" aria-label="One less" disabled={replicas <= 0} onClick={() => setReplicas(replicas - 1)}>
            −
          </button>
          <input
            id="replicas"
            type="number"
            min="0"
            max="2147483647"
            required
            value={replicas}
            onInput={(event) => setReplicas(Math.max(0, Math.trunc(event.currentTarget.valueAsNumber || 0)))}
          />
          <button type="button" aria-label="One more" onClick={() => setReplicas(replicas + 1)}>
            +
          </button>
        </span>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy || replicas === current}>
            Scale to {replicas}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
