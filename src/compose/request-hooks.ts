/** Places in the way of a request for those who run a server within their own program. A server without them pays nothing. */
import type { Context } from '../server/context.ts';
import type { Step } from '../server/pipeline.ts';
import type { Handle } from '../server/tunnels/upgrade.ts';

export interface RequestHooks {
  /** Puts something around the handling of each request, of clients and of parts of the server. */
  around(handle: Handle): Handle;
  /** Runs when it is known who asks for what, before the request is queued and authorized. */
  readonly known: Step;
  /** Called before an admission webhook is asked; may throw in its place. */
  callsWebhook(name: string): void;
  /** Called when an answer is finished or its connection is gone. */
  finished(ctx: Context): void;
}
