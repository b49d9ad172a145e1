import { Dialog } from '../parts/dialog.tsx';
import { useConsole } from './console.ts';

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const { keyboard } = useConsole();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keyboard.bindings.value.map(({ key, label }) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
