/** ValidatingAdmissionWebhook: calls all matching webhooks concurrently; one denial is enough. */
import { ApiError } from '@plat-dev/meta/errors';
import { noChanges } from '../explanation.ts';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { ask, CallFailed, callFailure, denial } from '../webhooks/call.ts';
import { Dispatcher } from '../webhooks/dispatch.ts';
import type { Candidate } from '../webhooks/match.ts';
import { VersionedTexts } from '../webhooks/objects.ts';
import { type WebhookMetrics, webhookMetrics } from '../webhooks/webhook-metrics.ts';

export const validatingAdmissionWebhook: MakePlugin = (env, configuration) => {
  const dispatcher = new Dispatcher(env, configuration, 'validatingwebhookconfigurations');
  const metrics = webhookMetrics(env.metrics);
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: () => true,
    validate(request) {
      const candidates = dispatcher.candidates(request);
      if (candidates.length === 0) return;
      const selectedWebhooks = candidates.filter((candidate) => dispatcher.selected(candidate, request));
      if (selectedWebhooks.length > 0) return callWebhooks(env, dispatcher, metrics, request, selectedWebhooks);
    },
    close: () => dispatcher.close(),
  };
};

async function callWebhooks(
  env: PluginEnv,
  dispatcher: Dispatcher,
  metrics: WebhookMetrics,
  request: AdmissionRequest,
  selectedWebhooks: readonly Candidate[],
): Promise<void> {
  const texts = new VersionedTexts(env, request);
  const refusals = await Promise.all(selectedWebhooks.map((candidate) => one(env, dispatcher, metrics, request, candidate, texts)));
  // Of several denials the client gets the first in the order of the webhooks, whichever came first in time.
  const refusal = refusals.find((error) => error !== undefined);
  if (refusal !== undefined) throw refusal;
}

/** Returns why the request is denied; undefined: it is not. */
async function one(
  env: PluginEnv,
  { client }: Dispatcher,
  metrics: WebhookMetrics,
  request: AdmissionRequest,
  candidate: Candidate,
  texts: VersionedTexts,
): Promise<ApiError | undefined> {
  const { webhook, served } = candidate;
  const { operation, explanation } = request;
  const began = env.clock.monotonic();
  let refusal: ApiError | undefined;
  let note: string | undefined;
  try {
    const answer = await ask(env, client, request, candidate, () => texts.in(served), false);
    if (!answer.allowed) {
      refusal = denial(webhook, answer.status);
      metrics.rejected(webhook, 'validating', operation, 'no_error', refusal.code);
    }
  } catch (error) {
    if (error instanceof CallFailed && webhook.failOpen) {
      metrics.failedOpen(webhook, 'validating');
      note = `failed and was passed over: ${error.message}`;
      request.annotate(`failed-open.validating.webhook.admission.${env.identity.groupSuffix}/round_0_index_${webhook.index}`, webhook.name);
    } else if (error instanceof CallFailed) {
      refusal = callFailure(webhook, error);
      metrics.rejected(webhook, 'validating', operation, 'calling_webhook_error', 0);
    } else {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
      metrics.rejected(webhook, 'validating', operation, 'apiserver_internal_error', 0);
    }
  }
  const millis = env.clock.monotonic() - began;
  metrics.called(webhook, 'validating', operation, millis / 1000, refusal !== undefined, refusal?.code ?? 200);
  request.timing?.addWebhook(webhook.name, began, millis);
  explanation?.add({
    step: `ValidatingAdmissionWebhook/${webhook.configuration}/${webhook.name}`,
    phase: 'validate',
    round: 0,
    millis,
    changes: noChanges,
    ...(refusal !== undefined && { refused: refusal.message }),
    ...(note !== undefined && { note }),
  });
  return refusal;
}
