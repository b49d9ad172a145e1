/** Where the time of one request went. Times are those of a monotonic clock in milliseconds; 0: the step was not reached. */
export class RequestTiming {
  authenticatedAt = 0;
  /** It has its seats, or needs none. */
  seatedAt = 0;
  authorizedAt = 0;
  /** The answer was made, and is on its way to the client. */
  answeredAt = 0;
  /** When each began for the first time, and how long it took in all: a write that conflicts is repeated. */
  admissionAt = 0;
  admissionMs = 0;
  storeAt = 0;
  storeMs = 0;
  webhooks: WebhookTime[] | undefined;

  addAdmission(began: number, ended: number): void {
    if (this.admissionMs === 0) this.admissionAt = began;
    this.admissionMs += ended - began;
  }
  addStore(began: number, ended: number): void {
    if (this.storeMs === 0) this.storeAt = began;
    this.storeMs += ended - began;
  }
  /** Also part of `admissionMs`. */
  addWebhook(name: string, began: number, millis: number): void {
    this.webhooks ??= [];
    if (this.webhooks.length < MOST_WEBHOOKS) this.webhooks.push({ name, began, millis });
  }
}
interface WebhookTime {
  readonly name: string;
  readonly began: number;
  readonly millis: number;
}
/** Calls of webhooks that are told apart; the time of further ones is only in that of admission. */
const MOST_WEBHOOKS = 20;

export interface TimedStep {
  readonly name: string;
  readonly millis: number;
  /** When it began; undefined for time that was spent between steps. */
  readonly began?: number;
  /** The calls of webhooks within admission. */
  readonly webhook?: string;
}

/** A request that ended early has no later steps: what is left of its time was spent in the one that it had reached. */
export function timedSteps(started: number, timing: RequestTiming, end: number): TimedStep[] {
  const { authenticatedAt, seatedAt, authorizedAt, answeredAt, admissionAt, admissionMs, storeAt, storeMs, webhooks = [] } = timing;
  const answered = answeredAt === 0 ? end : answeredAt;
  const steps: TimedStep[] = [];
  let from = started;
  const until = (name: string, reachedAt: number): void => {
    const to = reachedAt === 0 ? answered : reachedAt;
    if (to > from) steps.push({ name, began: from, millis: to - from });
    from = Math.max(from, to);
  };
  until('authentication', authenticatedAt);
  until('queue', seatedAt);
  until('authorization', authorizedAt);
  const handling = answered - from - admissionMs - storeMs;
  if (admissionMs > 0) steps.push({ name: 'admission', began: admissionAt, millis: admissionMs });
  for (const { name, began, millis } of webhooks) steps.push({ name: 'webhook', webhook: name, began, millis });
  if (storeMs > 0) steps.push({ name: 'store', began: storeAt, millis: storeMs });
  if (handling > 0) steps.push({ name: 'handling', millis: handling });
  if (end > answered) steps.push({ name: 'sending', began: answered, millis: end - answered });
  return steps;
}
