/**
 * MutatingAdmissionWebhook: calls the matching webhooks one after the other; each sees the changes of those before it.
 * If one changed the object, plug-ins run once more, and with them the webhooks before it that requested
 * that (`IfNeeded`).
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { ApiError, badRequest } from '@plat-dev/meta/errors';
import { readJsonPatch } from '@plat-dev/patch';
import { decode, encodeWithEmptyLists, toJson } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonValue } from '@plat-dev/schema/types';
import { acceptedObject, changedObject } from '../changed-object.ts';
import { changesBetween, noChanges } from '../explanation.ts';
import type { Candidate } from '../matching/match.ts';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import { Rounds } from '../rounds.ts';
import type { AdmissionRequest } from '../types.ts';
import { ask, BadPatch, CallFailed, callFailure, denial } from '../webhooks/call.ts';
import { conditionsMet } from '../webhooks/conditions.ts';
import { Dispatcher } from '../webhooks/dispatch.ts';
import { VersionedTexts } from '../webhooks/objects.ts';
import type { ReviewAnswer } from '../webhooks/review.ts';

import type { Call, Webhook } from '../webhooks/webhook.ts';
import { type WebhookMetrics, webhookMetrics } from '../webhooks/webhook-metrics.ts';

export const mutatingAdmissionWebhook: MakePlugin = (env, configuration) => {
  const dispatcher = new Dispatcher(env, configuration, 'mutatingwebhookconfigurations');
  const mutator = new Mutator(env, dispatcher, webhookMetrics(env.metrics));
  return {
    name: 'MutatingAdmissionWebhook',
    handles: () => true,
    admit(request) {
      const candidates = dispatcher.candidates(request);
      if (candidates.length > 0) return mutator.run(request, candidates);
    },
    close: () => dispatcher.close(),
  };
};

class Mutator {
  private readonly env: PluginEnv;
  private readonly dispatcher: Dispatcher;
  private readonly metrics: WebhookMetrics;
  private readonly rounds = new WeakMap<AdmissionRequest, Rounds>();

  constructor(env: PluginEnv, dispatcher: Dispatcher, metrics: WebhookMetrics) {
    this.env = env;
    this.dispatcher = dispatcher;
    this.metrics = metrics;
  }

  async run(request: AdmissionRequest, candidates: readonly Candidate<Webhook>[]): Promise<void> {
    const again = request.reinvocation === 'running';
    let rounds = this.rounds.get(request);
    if (rounds === undefined) {
      rounds = new Rounds();
      this.rounds.set(request, rounds);
    }
    if (again && rounds.changedSince(request.object)) rounds.wantEarlier();
    const texts = new VersionedTexts(this.env, request);
    const values = this.dispatcher.values(request);
    try {
      for (const candidate of candidates) {
        const call = this.dispatcher.selected(candidate, request);
        if (call === undefined) continue;
        // A webhook that was not called in the first round is not called in the second either.
        if (again && !rounds.wants(call.webhook.id)) continue;
        if (call.webhook.conditions.length > 0 && !(await inSlices(conditionsMet(call, request, values), new Slices()))) continue;
        const changed = await this.one(request, call, texts, again ? 1 : 0);
        if (changed) {
          rounds.wantEarlier();
          if (!again) request.reinvocation = 'wanted';
        }
        if (call.webhook.reinvocable) rounds.recordCall(call.webhook.id);
      }
    } finally {
      if (request.reinvocation === 'wanted') rounds.remember(request.object);
    }
  }

  /** Returns whether the object was changed. */
  private async one(request: AdmissionRequest, call: Call, texts: VersionedTexts, round: number): Promise<boolean> {
    const { webhook, served } = call;
    const began = this.env.clock.monotonic();
    const objectBefore = request.explanation === undefined ? undefined : structuredClone(request.object);
    let changed = false;
    let denied = false;
    let failure: unknown;
    let note: string | undefined;
    try {
      const answer = await ask(this.env, this.dispatcher.client, request, call, () => texts.in(served), true);
      denied = !answer.allowed;
      if (denied) throw denial(webhook, answer.status);
      changed = await this.apply(request, webhook, served, answer, round);
    } catch (error) {
      if (error instanceof CallFailed && webhook.failOpen) {
        note = `failed and was passed over: ${error.message}`;
        this.failedOpen(request, webhook, round);
      } else failure = error instanceof CallFailed ? callFailure(webhook, error) : error;
      if (failure !== undefined) this.countRejection(request, webhook, error, denied);
    }
    this.annotate(request, 'mutation', round, webhook, { mutated: changed });
    const millis = this.env.clock.monotonic() - began;
    const code = failure === undefined ? 200 : failure instanceof ApiError ? failure.code : 500;
    this.metrics.called(webhook, 'admit', request.operation, millis / 1000, failure !== undefined, code);
    request.timing?.addWebhook(webhook.name, began, millis);
    request.explanation?.add({
      step: `MutatingAdmissionWebhook/${webhook.configuration}/${webhook.name}`,
      phase: 'admit',
      round,
      millis,
      changes: objectBefore === undefined ? noChanges : changesBetween(objectBefore as never, request.object as never),
      ...(failure !== undefined && { refused: (failure as Error).message }),
      ...(note !== undefined && { note }),
    });
    if (failure !== undefined) throw failure;
    return changed;
  }

  /** Applies the patch of a response; defaults are set again. */
  private async apply(
    request: AdmissionRequest,
    webhook: Webhook,
    served: ServedKind,
    answer: ReviewAnswer,
    round: number,
  ): Promise<boolean> {
    if (answer.patch === undefined) return false;
    const patch = this.readPatch(answer.patch);
    const operations = parseExact(answer.patch.toString('utf8')) as JsonValue;
    if (Array.isArray(operations) && operations.length === 0) return false;
    if (request.object === undefined)
      throw badRequest(
        `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    const changed =
      request.objectKind === undefined
        ? await this.patchObject(request, webhook, served, patch)
        : this.patchAction(request, webhook, request.objectKind, patch);
    this.annotate(request, 'patch', round, webhook, { patch: operations, patchType: answer.patchType });
    return changed;
  }

  /** A patch that cannot be parsed is an invalid response: the failure policy applies. */
  private readPatch(patch: Buffer): (document: JsonValue) => JsonValue {
    try {
      return readJsonPatch(patch);
    } catch (error) {
      throw new BadPatch(`received invalid webhook response: response.patch is not a JSON patch: ${whyOf(error as Error)}`);
    }
  }

  private async patchObject(
    request: AdmissionRequest,
    webhook: Webhook,
    served: ServedKind,
    patch: (document: JsonValue) => JsonValue,
  ): Promise<boolean> {
    const { webhooks } = this.env;
    const current = served.isHub ? (request.object as ApiObject) : await webhooks.toVersion(served, request.object as ApiObject);
    const patched = attempt(webhook, () =>
      changedObject(served, patch(parseExact(encodeWithEmptyLists(served.schema, current)) as JsonValue)),
    );
    const changed = !equal(current, patched);
    request.object = await acceptedObject(webhooks, served, patched);
    return changed;
  }

  /** Objects of actions have one version and no defaults of their own. */
  private patchAction(
    request: AdmissionRequest,
    webhook: Webhook,
    { schema }: NonNullable<AdmissionRequest['objectKind']>,
    patch: (document: JsonValue) => JsonValue,
  ): boolean {
    const current = request.object as ApiObject;
    const patched = attempt(webhook, () => {
      if (schema === undefined) return patch(structuredClone(current) as never) as unknown as ApiObject;
      return decode(schema, patch(toJson(schema, current as never))) as ApiObject;
    });
    const changed = !equal(current, patched);
    if (changed) request.object = patched;
    return changed;
  }

  // ---- reports --------------------------------------------------------------------------------------------------

  private failedOpen(request: AdmissionRequest, webhook: Webhook, round: number): void {
    this.metrics.failedOpen(webhook, 'admit');
    const key = `failed-open.mutating.webhook.admission.${this.env.identity.groupSuffix}/round_${round}_index_${webhook.index}`;
    request.annotate(key, webhook.name);
  }
  private countRejection({ operation }: AdmissionRequest, webhook: Webhook, error: unknown, denied: boolean): void {
    if (denied) this.metrics.rejected(webhook, 'admit', operation, 'no_error', (error as ApiError).code);
    else {
      const cause = error instanceof CallFailed ? 'calling_webhook_error' : 'apiserver_internal_error';
      this.metrics.rejected(webhook, 'admit', operation, cause, 0);
    }
  }
  private annotate(request: AdmissionRequest, what: 'mutation' | 'patch', round: number, webhook: Webhook, more: object): void {
    const key = `${what}.webhook.admission.${this.env.identity.groupSuffix}/round_${round}_index_${webhook.index}`;
    const value = jsonText({ configuration: webhook.configuration, webhook: webhook.name, ...more });
    request.annotate(key, value, what === 'patch' ? 'Request' : 'Metadata');
  }
}

const whyOf = ({ message, cause }: Error): string => (typeof cause === 'string' ? cause : message);

/** A patch that does not apply to the object is an error regardless of the failure policy. */
function attempt<T>({ name }: Webhook, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw badRequest(`the patch of admission webhook ${JSON.stringify(name)} cannot be used: ${whyOf(error as Error)}`);
  }
}
