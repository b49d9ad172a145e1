/** The ways into the console: a token, a client certificate, OpenID Connect, or the link that the server printed. */
import type { Signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import type { Credentials } from '../../api/session.ts';
import { useConsole } from '../../app/console.ts';
import { useTitle } from '../../app/use.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import './login.css';

export default function LoginPage({ failure }: { readonly failure: Signal<ApiError | undefined> }) {
  const { session } = useConsole();
  const [isBusy, setBusy] = useState(false);
  useTitle('Log in');
  const state = session.state.value;
  const ways = state.phase === 'out' ? state.ways : [];
  const logIn = async (credentials: Credentials): Promise<void> => {
    setBusy(true);
    failure.value = undefined;
    try {
      await session.logIn(credentials);
    } catch (error) {
      failure.value = asApiError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <h1>Log in to the console</h1>
      {failure.value !== undefined && <ErrorBox error={failure.value} />}
      {ways.includes('token') && <TokenForm isBusy={isBusy} onToken={(token) => void logIn({ token })} />}
      {ways.includes('certificate') && (
        <button type="button" disabled={isBusy} onClick={() => void logIn({ certificate: true })}>
          Use the browser's client certificate
        </button>
      )}
      {ways.includes('oidc') && (
        <a class="button" href="/console/oidc/start">
          Log in with OpenID Connect
        </a>
      )}
      <p class="quiet">
        The server prints a link that logs you in when it starts. It works once, and for five minutes; <code>plat console</code> makes a new
        one.
      </p>
    </main>
  );
}

function TokenForm({ isBusy, onToken }: { readonly isBusy: boolean; readonly onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onToken(token.trim());
      }}
    >
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={isBusy || token.trim() === ''}>
        Log in
      </button>
    </form>
  );
}
