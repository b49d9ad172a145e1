/** Starts the page: makes what its parts share, takes the one-time code out of the address, and shows the shell. */
import { systemClock } from '@plat-dev/lib/clock';
import { render } from 'preact';
import { createApi } from './api/api.ts';
import { Discovery } from './api/discovery.ts';
import { Session } from './api/session.ts';
import { type Socket, WatchConnection } from './api/watch-connection.ts';
import { type Console, ConsoleContext } from './app/console.ts';
import { Keyboard, listenForKeys } from './app/keyboard.ts';
import { Location } from './app/location.ts';
import { Root } from './app/root.tsx';
import { startSession } from './app/start-session.ts';
import { Toasts } from './parts/toasts.ts';
import './style/console.css';
import './style/shell.css';

function watchSocket(): Socket {
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws';
  return new WebSocket(`${scheme}://${window.location.host}/console/watch`, 'console.v1') as Socket;
}

function createConsole(): Console {
  const clock = systemClock;
  const request = window.fetch.bind(window);
  const session = new Session(request, () => window.location.reload());
  const api = createApi(request, session);
  const checkUser = (): void => void session.load().catch(() => undefined);
  const watches = new WatchConnection({
    connect: watchSocket,
    clock,
    random: () => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32,
    onConnected: checkUser,
    onLost: checkUser,
  });
  return {
    clock,
    api,
    session,
    discovery: new Discovery(api),
    watches,
    location: new Location(window),
    keyboard: new Keyboard(clock),
    toasts: new Toasts(clock),
  };
}

const console = createConsole();
listenForKeys(console.keyboard, document);
window.addEventListener('online', () => console.watches.retryNow());
// Another page of the browser may have logged in as somebody else meanwhile.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && console.session.details !== undefined) void console.session.load().catch(() => undefined);
});
const loginFailure = startSession(console, window);
render(
  <ConsoleContext.Provider value={console}>
    <Root loginFailure={loginFailure} />
  </ConsoleContext.Provider>,
  document.getElementById('console') as HTMLElement,
);
