/** An error in plain words, with the server's causes at their fields. */
import { asApiError } from '../api/api-error.ts';
import { Text } from './text.tsx';

export function ErrorBox({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => void) | undefined }) {
  const { code, message, reason, causes } = asApiError(error);
  return (
    <div class="error-box" role="alert">
      <p>
        <strong>{titleOf(code)}</strong> <Text value={message} />
      </p>
      {causes.length > 0 && (
        <ul>
          {causes.map((cause) => (
            <li key={`${cause.field}${cause.message}`}>
              {cause.field !== undefined && <code>{cause.field}</code>} <Text value={cause.message ?? cause.reason ?? ''} />
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">
        {code > 0 && `Code ${code}${reason === '' ? '' : `, ${reason}`}`}{' '}
        {onRetry !== undefined && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

function titleOf(code: number): string {
  if (code === 0) return 'No answer.';
  if (code === 403) return 'Not allowed.';
  if (code === 404) return 'Not found.';
  if (code === 409) return 'Conflict.';
  if (code === 422) return 'Not valid.';
  return 'Failed.';
}
