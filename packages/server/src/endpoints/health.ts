/**
 * `/healthz`, `/livez`, `/readyz` and each of their checks at a path of its own.
 *
 *   GET /livez                         ok
 *   GET /livez?verbose&exclude=etcd    [+]ping ok
 *                                      [+]etcd excluded: ok
 *                                      livez check passed
 *   GET /readyz/shutdown               internal server error: the server is shutting down
 *
 *   GET /readyz?verbose                [!]store-values: 2 objects cannot be read
 *                                      readyz check passed
 *
 * A check that is advisory never fails a page: its failure does not keep the server from serving everything else. Its
 * own path fails, so that monitoring can use it.
 *
 * The public pages withhold why a check failed; the check's own path, which needs a permission of its own, shows it.
 */

import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { Context } from '../context.ts';
import { sendText } from '../response/respond.ts';
import type { Endpoint } from './endpoint.ts';

export type HealthPage = 'healthz' | 'livez' | 'readyz';
export const healthPages: readonly HealthPage[] = ['healthz', 'livez', 'readyz'];

export interface HealthCheck {
  readonly name: string;
  readonly in: readonly HealthPage[];
  /** Its failure is shown, with its reason, and fails its own path only; without one, pages do not name it. */
  readonly advisory?: boolean;
  /** Throws (or rejects) with the reason while the check fails. */
  check(): MaybePromise<void>;
}

export interface HealthOptions {
  /** In the order in which they are shown. */
  readonly checks: readonly HealthCheck[];
  /** Milliseconds after `startedAt` during which /livez ignores every failure. */
  readonly livezGraceMs: number;
  readonly startedAt: number;
  readonly clock: Clock;
  /** Called with the reasons of failures, since the response withholds them. */
  readonly report: (page: HealthPage, failures: readonly string[]) => void;
}

/** A check that takes longer than this has failed. */
const CHECK_TIMEOUT_MS = 5000;

/** A check that only shows that requests are answered. */
export const ping: HealthCheck = { name: 'ping', in: healthPages, check: () => {} };

/** A step of the start that must be done once; `done` is called when it is. */
export function startStep(name: string): HealthCheck & { done(): void } {
  let finished = false;
  return {
    name: `poststarthook/${name}`,
    in: healthPages,
    check() {
      if (!finished) throw new Error('not finished');
    },
    done() {
      finished = true;
    },
  };
}

/** A check of a running part: it fails while the part reports a problem. */
export function partCheck(name: string, problem: () => string | undefined): HealthCheck {
  return {
    name,
    in: healthPages,
    check() {
      const reason = problem();
      if (reason !== undefined) throw new Error(reason);
    },
  };
}

/** The pages and their checks by path. */
export function healthEndpoints(options: HealthOptions): Map<string, Endpoint> {
  const paths = new Map<string, Endpoint>();
  for (const page of healthPages) {
    const checks = options.checks.filter((check) => check.in.includes(page)).map((check) => forgiving(options, page, check));
    paths.set(`/${page}`, (ctx) => showPage(options, page, checks, ctx));
    for (const check of checks) paths.set(`/${page}/${check.name}`, (ctx) => showCheck(options, check, ctx));
  }
  return paths;
}

function forgiving(options: HealthOptions, page: HealthPage, check: HealthCheck): HealthCheck {
  if (page !== 'livez' || options.livezGraceMs <= 0) return check;
  const { startedAt, livezGraceMs, clock } = options;
  return { ...check, check: () => (clock.now() - startedAt < livezGraceMs ? undefined : check.check()) };
}

async function showPage(options: HealthOptions, page: HealthPage, checks: readonly HealthCheck[], ctx: Context): Promise<void> {
  const excluded = new Set(ctx.query.getAll('exclude'));
  const failures: string[] = [];
  // All run concurrently, so that a slow one does not add to the others.
  const lines = await Promise.all(
    checks.map(async (check) => {
      if (excluded.delete(check.name)) return `[+]${check.name} excluded: ok\n`;
      const reason = await outcome(check, options.clock);
      if (reason === undefined) return check.advisory === true ? '' : `[+]${check.name} ok\n`;
      if (check.advisory === true) return `[!]${check.name}: ${reason}\n`;
      failures.push(`${check.name}: ${reason}`);
      return `[-]${check.name} failed: reason withheld\n`;
    }),
  );
  if (excluded.size > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted(excluded)}\n`);
  if (failures.length > 0) {
    options.report(page, failures);
    sendText(ctx, 500, `${lines.join('')}${page} check failed\n`);
  } else if (!ctx.query.has('verbose')) sendText(ctx, 200, 'ok');
  else sendText(ctx, 200, `${lines.join('')}${page} check passed\n`);
}

async function showCheck({ clock }: HealthOptions, check: HealthCheck, ctx: Context): Promise<void> {
  const reason = await outcome(check, clock);
  if (reason === undefined) sendText(ctx, 200, 'ok');
  else sendText(ctx, 500, `internal server error: ${reason}\n`);
}

const quoted = (names: ReadonlySet<string>): string =>
  [...names]
    .sort()
    .map((name) => JSON.stringify(name))
    .join(', ');

/** Why a check failed; undefined when it passed. */
async function outcome(check: HealthCheck, clock: Clock): Promise<string | undefined> {
  let cancel: Cancel | undefined;
  try {
    const answer = check.check();
    if (answer === undefined) return undefined;
    const timeout = new Promise<never>((_, reject) => {
      cancel = clock.after(CHECK_TIMEOUT_MS, () => reject(new Error('no answer in time')));
    });
    await Promise.race([answer, timeout]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cancel?.();
  }
}
