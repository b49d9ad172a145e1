/** Says that something is under way, once it has lasted for 300 ms. */
import { useLongWait } from '../app/use.ts';

export function Progress({ label = 'Loading…', isWaiting = true }: { readonly label?: string; readonly isWaiting?: boolean }) {
  const isLong = useLongWait(isWaiting);
  return (
    <div class="progress" role="status">
      {isLong && (
        <>
          <span class="spinner" aria-hidden="true" /> {label}
        </>
      )}
    </div>
  );
}
