/** The steps of a request in order, and the handlers that run them. */

import { serveResource } from '@plat-dev/server/api';
import { newLastModes } from '@plat-dev/server/auth/impersonation';
import type { Attributes } from '@plat-dev/server/auth/types';
import { TimeLimits } from '@plat-dev/server/connections/time-limits';
import type { Context } from '@plat-dev/server/context';
import { requestHandler } from '@plat-dev/server/handler';
import type { Step } from '@plat-dev/server/pipeline';
import { Routes } from '@plat-dev/server/request/route';
import { keepBodies, logRequests } from '@plat-dev/server/request-log';
import type { Services } from '@plat-dev/server/services';
import { authorize } from '@plat-dev/server/steps/authorize';
import { explain } from '@plat-dev/server/steps/explain';
import { answerWith, auditId, checkTimeout, findInfo, sendUncompressed } from '@plat-dev/server/steps/identify';
import { impersonate } from '@plat-dev/server/steps/impersonate';
import { timed } from '@plat-dev/server/steps/timed';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { Base } from '../base.ts';
import type { State } from '../state.ts';
import type { Access } from './access.ts';
import type { ComposedAggregation } from './aggregation.ts';
import { composeAudit } from './audit.ts';
import { composeStreams } from './streams.ts';
import type { Surface } from './surface.ts';
import { composeTracing } from './tracing.ts';

export interface Pipeline {
  readonly services: Services;
  readonly surface: Surface;
  readonly aggregation: ComposedAggregation;
}

/** Makes a handler with its own way to say who makes a request, and with further headers of all its answers. */
export type HandlerOf = (identify: Step, headers?: readonly string[]) => Handle;

export async function composePipeline(base: Base, state: State, access: Access, pipeline: Pipeline): Promise<HandlerOf> {
  const { clock, log, parts, hooks } = base;
  const { services, surface } = pipeline;
  const stepsFor = await composeSteps(base, state, access, pipeline);
  const observe = (ctx: Context): void => {
    surface.finished(ctx);
    services.slowRequests.finished(ctx);
    hooks?.finished(ctx);
  };
  const finished = logRequests(log, clock, observe);
  const routes = new Routes();
  const limits = new TimeLimits<Context>(clock, services.limits.requestTimeoutMs);
  parts.add('time limits', () => limits.close());
  const report = (error: unknown, ctx: Context): void =>
    log.error('request failed', {
      method: ctx.method,
      path: ctx.path,
      audit: ctx.auditId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  return (identify, headers = []) => {
    const handler = requestHandler({ steps: stepsFor(identify, headers), routes, limits, clock, report, finished });
    return hooks === undefined ? handler : hooks.around(handler);
  };
}

async function composeSteps(
  base: Base,
  { catalog, live }: State,
  { trust, auth }: Access,
  { services, surface, aggregation }: Pipeline,
): Promise<(identify: Step, headers: readonly string[]) => Step[]> {
  const { options, identity, clock, log, parts, hooks } = base;
  const trail = await parts.start(
    'audit',
    () => composeAudit(base, { catalog, trust }),
    (audit) => audit?.close(),
  );
  const tracing = await parts.start(
    'tracing',
    () => composeTracing(base),
    (spans) => spans?.close(),
  );
  const constrained = options.features.isOn('ConstrainedImpersonation') && newLastModes();
  const impersonation = { identity, authorizer: services.authorizer, constrained };
  const streams = await parts.start(
    'streams',
    () => composeStreams(base, { live, authenticator: auth.authenticator, impersonation }),
    (open) => open.close(),
  );
  const now = (): number => clock.monotonic();
  const noteRefusal = (ctx: Context, attributes: Attributes): void =>
    services.refusals.note({ auditID: ctx.auditId, time: clock.now(), attributes });
  return (identify, headers) => [
    ...keepBodies(log),
    auditId(base.random),
    ...(headers.length === 0 ? [] : [answerWith(headers)]),
    findInfo,
    ...(tracing === undefined ? [] : [tracing.step]),
    ...(options.features.isOn('APIResponseCompression') ? [] : [sendUncompressed]),
    checkTimeout,
    timed('authentication', now, trail?.around(identify) ?? identify, impersonate(impersonation)),
    ...(hooks === undefined ? [] : [hooks.onKnownRequest]),
    ...surface.steps,
    timed('authorization', now, authorize(services.authorizer, noteRefusal), explain(services.authorizer)),
    streams.step,
    (ctx) => aggregation.serve(ctx) ?? (ctx.info.resourceRequest ? serveResource(services, ctx) : surface.serve(ctx)),
  ];
}
