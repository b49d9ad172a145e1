import { useState } from 'preact/hooks';
import { useConsole } from '../app/console.ts';

const SHOWN_MILLIS = 1500;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const { clock, toasts } = useConsole();
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      clock.after(SHOWN_MILLIS, () => setCopied(false));
    } catch {
      toasts.failed('The browser does not allow the page to copy.');
    }
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}
