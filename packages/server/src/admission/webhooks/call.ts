/** One call of a webhook, from the request to the response, with its warnings and audit annotations. */

import type { Status } from '@plat-dev/kinds/meta-kinds';
import { type ApiError, badRequest, fromStatus, internalError } from '@plat-dev/meta/errors';
import { qualifiedName } from '@plat-dev/meta/names';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { answeredJson } from './answer.ts';
import type { WebhookClient } from './client.ts';
import { type ReviewAnswer, type ReviewObjects, readAnswer, reviewText, UnusablePatch } from './review.ts';
import type { Call, Webhook } from './webhook.ts';

/** The webhook could not be called, or gave an invalid response: its failure policy applies. */
export class CallFailed extends Error {}

/** The webhook responded, and its patch cannot be applied: the response counts as a failure. */
export class BadPatch extends CallFailed {}

/** Calls it. Throws CallFailed, or an ApiError that no failure policy can ignore. */
export async function ask(
  env: PluginEnv,
  client: WebhookClient,
  request: AdmissionRequest,
  { webhook, served }: Call,
  objects: () => Promise<ReviewObjects>,
  mutating: boolean,
): Promise<ReviewAnswer> {
  if (request.dryRun && !webhook.dryRunnable)
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  const version = webhook.reviewVersion;
  if (version === undefined)
    throw new CallFailed('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  const uid = env.newUid();
  const text = reviewText(env.identity, version, uid, request, served, await objects());
  const value = await post(env, client, webhook, text, request.traceparent?.());
  let answer: ReviewAnswer;
  try {
    answer = readAnswer(env.identity, version, uid, value, mutating);
  } catch (error) {
    const message = `received invalid webhook response: ${(error as Error).message}`;
    throw error instanceof UnusablePatch ? new BadPatch(message) : new CallFailed(message);
  }
  for (const [key, annotation] of answer.auditAnnotations) annotate(env, request, `${webhook.name}/${key}`, annotation);
  for (const warning of answer.warnings) request.warn(warning);
  return answer;
}

/** An invalid annotation key is not recorded, because readers of the audit log rely on the format. */
function annotate(env: PluginEnv, request: AdmissionRequest, key: string, text: string): void {
  const [problem] = qualifiedName(key);
  if (problem === undefined) request.annotate(key, text);
  else env.log.warn('audit annotation of a webhook ignored', { key, reason: problem });
}

async function post(env: PluginEnv, client: WebhookClient, webhook: Webhook, text: string, traceparent: string | undefined) {
  try {
    env.callsWebhook?.(webhook.name);
    return answeredJson(await client.post(webhook.client, text, webhook.timeoutMs, traceparent));
  } catch (error) {
    throw new CallFailed(`failed to call webhook: ${(error as Error).message}`);
  }
}

/** The client's error for a denial of a webhook. */
export function denial(webhook: Webhook, status: Status | undefined): ApiError {
  const by = `admission webhook ${JSON.stringify(webhook.name)} denied the request`;
  const why = status?.message || status?.reason;
  return fromStatus(status ?? { metadata: {} }, why ? `${by}: ${why}` : `${by} without explanation`, 400);
}

/** The client's error for a webhook that failed, if that fails the request. */
export function callFailure(webhook: Webhook, error: CallFailed): ApiError {
  const message = `failed calling webhook ${JSON.stringify(webhook.name)}: ${error.message}`;
  return error instanceof BadPatch ? badRequest(message) : internalError(message);
}
