/** Where the page is: the address bar as a signal. */
import { type Signal, signal } from '@preact/signals';
import { BASE, parseRoute, type QueryParts, type Route, withQueryParts } from './routes.ts';

export interface NavigateOptions {
  /** The new address takes the place of the present one in the history. */
  readonly replace?: boolean;
}

export class Location {
  readonly route: Signal<Route>;
  readonly #window: Window;

  constructor(browserWindow: Window) {
    this.#window = browserWindow;
    this.route = signal(this.#read());
    browserWindow.addEventListener('popstate', () => {
      this.route.value = this.#read();
    });
    browserWindow.document.addEventListener('click', (event) => this.#followLink(event));
  }

  navigate(href: string, { replace = false }: NavigateOptions = {}): void {
    const { history } = this.#window;
    if (replace) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
    this.route.value = this.#read();
    if (!replace) this.#window.scrollTo(0, 0);
  }

  /** Changes parameters of the present place: a filter, a sort order, a tab. */
  setQuery(changes: QueryParts, options: NavigateOptions = { replace: true }): void {
    const { pathname, search } = this.#window.location;
    this.navigate(withQueryParts(pathname, new URLSearchParams(search), changes), options);
  }

  #read(): Route {
    const { pathname, search } = this.#window.location;
    return parseRoute(pathname, search);
  }

  /** Links within the page change the route without a load; all others, and those for a new tab, are the browser's. */
  #followLink(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== this.#window.location.origin) return;
    if (!link.pathname.startsWith(BASE) || link.pathname.startsWith(`${BASE}oidc/`)) return;
    event.preventDefault();
    this.navigate(`${link.pathname}${link.search}${link.hash}`);
  }
}
