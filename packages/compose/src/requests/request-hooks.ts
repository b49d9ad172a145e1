/** Hooks into requests for programs that embed a server. A server without them pays nothing. */
import type { Context } from '@plat-dev/server/context';
import type { Step } from '@plat-dev/server/pipeline';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';

export interface RequestHooks {
  /** Wraps the handling of each request, of clients and of parts of the server. */
  around(handle: Handle): Handle;
  /** Runs when the user and the attributes of a request are known, before it is queued and authorized. */
  readonly onKnownRequest: Step;
  /** Called before an admission webhook is called; may throw in its place. */
  callsWebhook(name: string): void;
  /** Called when a response is finished or its connection is closed. */
  finished(ctx: Context): void;
}
