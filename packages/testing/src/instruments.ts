/** The parts of a test server around its requests: the wait until it has settled, faults, and the list of requests and writes. */

import type { RequestHooks } from '@plat-dev/compose/requests/request-hooks';
import { type Clock, FakeClock } from '@plat-dev/lib/clock';
import type { Context } from '@plat-dev/server/context';
import type { Step } from '@plat-dev/server/pipeline';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { Engine } from '@plat-dev/storage/engine';
import { asMemoryEngine } from '@plat-dev/storage/engines/memory';
import { Activity } from './activity.ts';
import { TestFaults } from './faults.ts';
import { RequestLog, useCourses } from './requests.ts';

export class Instruments implements RequestHooks {
  readonly activity = new Activity();
  readonly faults = new TestFaults(this.activity);
  readonly requests = new RequestLog();
  private unfollow: () => void = () => {};
  private endCourses: (() => void) | undefined = useCourses(this);

  /** Called when the server has started. */
  begin(server: { readonly engine: Engine; readonly clock: Clock; readonly isBusy: (retryMs: number) => boolean }): void {
    const { engine, clock, isBusy } = server;
    this.activity.watch({ revision: () => engine.revision, isBusy, timePasses: !(clock instanceof FakeClock) });
    this.faults.use(clock);
    this.unfollow = this.requests.follow(asMemoryEngine(engine), clock);
  }
  close(): void {
    this.unfollow();
    this.faults.close();
    this.endCourses?.();
    this.endCourses = undefined;
  }

  around(handle: Handle): Handle {
    // Requests during the shutdown are not listed.
    return (req, res, upgrade) =>
      this.endCourses === undefined ? handle(req, res, upgrade) : this.requests.within(() => handle(req, res, upgrade));
  }
  readonly onKnownRequest: Step = (ctx) => {
    this.activity.begin(ctx);
    this.requests.begin(ctx);
    if (!this.faults.none) return this.faults.apply(ctx);
  };
  finished(ctx: Context): void {
    this.activity.end(ctx);
    this.faults.end(ctx);
    this.requests.end(ctx);
  }
  callsWebhook(name: string): void {
    this.faults.applyToWebhook(name);
  }
}
