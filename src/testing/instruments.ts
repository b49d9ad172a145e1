/** What a test server has around its requests: who waits until it has settled, and its clock. */
import type { RequestHooks } from '../compose/request-hooks.ts';
import type { Context } from '../server/context.ts';
import type { Handle } from '../server/tunnels/upgrade.ts';
import { Activity } from './activity.ts';

export class Instruments implements RequestHooks {
  readonly activity = new Activity();

  around(handle: Handle): Handle {
    return handle;
  }
  readonly known = (ctx: Context): void | Promise<void> => {
    this.activity.begin(ctx);
  };
  finished(ctx: Context): void {
    this.activity.end(ctx);
  }
}
