/** ValidatingAdmissionWebhook: calls all matching webhooks concurrently; one denial is enough. */
import { soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import { whenReady } from '@plat-dev/lib/when-ready';
import { ApiError } from '@plat-dev/meta/errors';
import { noChanges } from '../explanation.ts';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { ask, CallFailed, callFailure, denial } from '../webhooks/call.ts';
import { conditionsMet } from '../webhooks/conditions.ts';
import { Dispatcher } from '../webhooks/dispatch.ts';
import { VersionedTexts } from '../webhooks/objects.ts';
import type { Call } from '../webhooks/webhook.ts';
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
      const calls = candidates.flatMap((candidate) => dispatcher.selected(candidate, request) ?? []);
      const met = soonOrInSlices(callsWhoseConditionsHold(calls, request, dispatcher));
      return whenReady(met, (some) => (some.length > 0 ? callWebhooks(env, dispatcher, metrics, request, some) : undefined));
    },
    close: () => dispatcher.close(),
  };
};

function* callsWhoseConditionsHold(calls: readonly Call[], request: AdmissionRequest, dispatcher: Dispatcher): Work<readonly Call[]> {
  if (calls.every(({ webhook }) => webhook.conditions.length === 0)) return calls;
  const values = dispatcher.values(request);
  const met: Call[] = [];
  for (const call of calls) if (yield* conditionsMet(call, request, values)) met.push(call);
  return met;
}

async function callWebhooks(
  env: PluginEnv,
  dispatcher: Dispatcher,
  metrics: WebhookMetrics,
  request: AdmissionRequest,
  calls: readonly Call[],
): Promise<void> {
  const texts = new VersionedTexts(env, request);
  const refusals = await Promise.all(calls.map((call) => one(env, dispatcher, metrics, request, call, texts)));
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
  call: Call,
  texts: VersionedTexts,
): Promise<ApiError | undefined> {
  const { webhook, served } = call;
  const { operation, explanation } = request;
  const began = env.clock.monotonic();
  let refusal: ApiError | undefined;
  let note: string | undefined;
  try {
    const answer = await ask(env, client, request, call, () => texts.in(served), false);
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
