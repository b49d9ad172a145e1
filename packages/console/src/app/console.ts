/** What every part of the page shares. There is one, made in main.tsx; components get it by `useConsole`. */

import type { Clock } from '@plat-dev/lib/clock';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import type { Discovery } from '../api/discovery.ts';
import type { Session } from '../api/session.ts';
import type { WatchConnection } from '../api/watch-connection.ts';
import type { Toasts } from '../parts/toasts.ts';
import type { Keyboard } from './keyboard.ts';
import type { Location } from './location.ts';

export interface Console {
  readonly clock: Clock;
  readonly api: Api;
  readonly session: Session;
  readonly discovery: Discovery;
  readonly watches: WatchConnection;
  readonly location: Location;
  readonly keyboard: Keyboard;
  readonly toasts: Toasts;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === undefined) throw new Error('a component is shown outside of the console');
  return console;
}
