/** Where the time of one request went. Times are those of a monotonic clock in milliseconds; 0: the step was not reached. */
export class RequestTiming {
  authenticatedAt = 0;
  /** It has its seats, or needs none. */
  seatedAt = 0;
  authorizedAt = 0;
  /** The answer was made, and is on its way to the client. */
  answeredAt = 0;
  admissionMs = 0;
  storeMs = 0;
  webhooks: WebhookTime[] | undefined;

  /** Also part of `admissionMs`. */
  addWebhook(name: string, millis: number): void {
    this.webhooks ??= [];
    if (this.webhooks.length < MOST_WEBHOOKS) this.webhooks.push({ name, millis });
  }
}
interface WebhookTime {
  readonly name: string;
  readonly millis: number;
}
/** Calls of webhooks that are told apart; the time of further ones is only in that of admission. */
const MOST_WEBHOOKS = 20;
