/** Validation of webhook configurations; both kinds have nearly the same fields. */
import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1035Label, fullyQualifiedName } from '@plat-dev/meta/names';
import type { KindEnv, ReleaseEnv, WriteRequest } from '../kind.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { validateWebhookClient } from '../validation/webhook-client.ts';
import { policyExpressions } from './policy-expressions.ts';
import { validateRule } from './rule-rules.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from './schema/v1.ts';

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
/** A validating webhook is one without a policy of reinvocation. */
type Webhook = MutatingWebhook;

const list = Path.of('webhooks');
const failurePolicies = ['Fail', 'Ignore'];
const matchPolicies = ['Equivalent', 'Exact'];
const sideEffectClasses = ['None', 'NoneOnDryRun'];
const betaSideEffectClasses = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const reinvocationPolicies = ['IfNeeded', 'Never'];
const reviewVersions = ['v1', 'v1beta1'];
const MAX_TIMEOUT_SECONDS = 30;

/** Selectors that are not given select everything. */
export function defaults({ webhooks }: Configuration): void {
  for (const webhook of webhooks ?? []) {
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
  }
}

/** Values that clients of version 1beta1 may write, and that a configuration stored with it may keep. */
interface Allowances {
  readonly sideEffects: boolean;
  readonly repeatedNames: boolean;
  readonly unknownReviewVersions: boolean;
}
const strict: Allowances = { sideEffects: false, repeatedNames: false, unknownReviewVersions: false };
const isBeta = ({ resource }: WriteRequest): boolean => resource.version === 'v1beta1';

function faultsOf({ webhooks = [] }: Configuration): Allowances {
  return {
    sideEffects: webhooks.some(({ sideEffects = '' }) => !sideEffectClasses.includes(sideEffects)),
    repeatedNames: new Set(webhooks.map(({ name }) => name)).size < webhooks.length,
    unknownReviewVersions: webhooks.some(
      ({ admissionReviewVersions: reviewed = [] }) => reviewed.length > 0 && !reviewed.some((version) => reviewVersions.includes(version)),
    ),
  };
}

export function validateConfiguration(
  configuration: Configuration,
  errors: FieldErrors,
  env: KindEnv,
  request: WriteRequest,
): void | Work<void> {
  validateWebhooks(configuration, isBeta(request) ? { ...strict, sideEffects: true, repeatedNames: true } : strict, errors, env);
  if (hasConditions(configuration)) return validateWebhookConditions(configuration, undefined, errors, env);
}

export function validateConfigurationUpdate(
  configuration: Configuration,
  old: Configuration,
  errors: FieldErrors,
  env: KindEnv,
  request: WriteRequest,
): void | Work<void> {
  metadataAgain(configuration, { namespaced: false }, errors, env);
  const faults = faultsOf(old);
  validateWebhooks(configuration, isBeta(request) ? { ...faults, sideEffects: true, repeatedNames: true } : faults, errors, env);
  if (hasConditions(configuration)) return validateWebhookConditions(configuration, old, errors, env);
}

const hasConditions = ({ webhooks }: Configuration): boolean =>
  webhooks?.some(({ matchConditions = [] }) => matchConditions.length > 0) === true;

/** Conditions that an update leaves as they are stay valid, whatever the release makes of them now. */
function* validateWebhookConditions(
  { webhooks = [] }: Configuration,
  old: Configuration | undefined,
  errors: FieldErrors,
  env: ReleaseEnv,
): Work<void> {
  const oldConditions = (old?.webhooks ?? []).map(({ matchConditions }) => matchConditions);
  const conditions = webhooks.map(({ matchConditions }) => matchConditions);
  if (old !== undefined && equal(conditions, oldConditions)) return;
  const stored = new Set(oldConditions.flatMap((one) => (one ?? []).map(({ expression }) => expression.trim())));
  const { validateConditions } = yield* policyExpressions();
  for (const [i, one] of conditions.entries())
    yield* validateConditions(one, list.index(i).child('matchConditions'), errors, { env, params: false, stored });
}

function validateWebhooks({ webhooks }: Configuration, allowed: Allowances, errors: FieldErrors, env: ReleaseEnv): void {
  const names = new Set<string>();
  each(webhooks as Webhook[] | undefined, list, (webhook, at) => {
    validateWebhook(webhook, at, allowed, errors, env);
    validateReviewVersions(webhook.admissionReviewVersions ?? [], at.child('admissionReviewVersions'), allowed, errors);
    if (!allowed.repeatedNames && webhook.name !== '' && names.has(webhook.name)) errors.duplicate(at.child('name'), webhook.name);
    names.add(webhook.name);
  });
}

function validateWebhook(webhook: Webhook, at: Path, allowed: Allowances, errors: FieldErrors, env: ReleaseEnv): void {
  const { name, rules, failurePolicy, matchPolicy, sideEffects, timeoutSeconds, reinvocationPolicy } = webhook;
  if (name === '') errors.required(at.child('name'));
  else report(errors, at.child('name'), name, fullyQualifiedName(name));
  each(rules, at.child('rules'), (rule, here) => validateRule(rule, here, errors, env));
  oneOf(failurePolicy, failurePolicies, at.child('failurePolicy'), errors);
  oneOf(matchPolicy, matchPolicies, at.child('matchPolicy'), errors);
  if (sideEffects === undefined && !allowed.sideEffects)
    errors.required(at.child('sideEffects'), `must specify one of ${sideEffectClasses.join(', ')}`);
  oneOf(sideEffects, allowed.sideEffects ? betaSideEffectClasses : sideEffectClasses, at.child('sideEffects'), errors);
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS))
    errors.invalid(at.child('timeoutSeconds'), timeoutSeconds, `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`);
  validateLabelSelector(webhook.namespaceSelector, at.child('namespaceSelector'), errors);
  validateLabelSelector(webhook.objectSelector, at.child('objectSelector'), errors);
  oneOf(reinvocationPolicy, reinvocationPolicies, at.child('reinvocationPolicy'), errors);
  validateWebhookClient(webhook.clientConfig, at.child('clientConfig'), errors);
}

function oneOf(value: string | undefined, allowed: readonly string[], at: Path, errors: FieldErrors): void {
  if (value !== undefined && !allowed.includes(value)) errors.notSupported(at, value, allowed);
}

function validateReviewVersions(versions: readonly string[], at: Path, allowed: Allowances, errors: FieldErrors): void {
  const supportedText = reviewVersions.join(', ');
  if (versions.length === 0) {
    errors.required(at, `must specify one of ${supportedText}`);
    return;
  }
  const visitedVersions = new Set<string>();
  each(versions, at, (version, here) => {
    if (visitedVersions.has(version)) errors.invalid(here, version, 'duplicate version');
    else report(errors, here, version, dns1035Label(version));
    visitedVersions.add(version);
  });
  if (!allowed.unknownReviewVersions && !versions.some((version) => reviewVersions.includes(version)))
    invalidText(errors, at, goList('string', versions), `must include at least one of ${supportedText}`);
}
