import { useConsole } from '../app/console.ts';
import { Text } from './text.tsx';

export function ToastList() {
  const { toasts } = useConsole();
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.list.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <span aria-hidden="true">{kind === 'done' ? '✓' : '!'}</span> <Text value={text} />
          <button type="button" class="icon" aria-label="Dismiss" onClick={() => toasts.dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
