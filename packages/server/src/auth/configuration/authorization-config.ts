/**
 * The file of `--authorization-config`, as stock servers read it: authorizers in the order in which they are asked.
 *
 *   apiVersion: apiserver.config.<suffix of the identity>/v1
 *   kind: AuthorizationConfiguration
 *   authorizers:
 *   - type: Webhook
 *     name: guard
 *     webhook:
 *       authorizedTTL: 30s
 *       unauthorizedTTL: 30s
 *       timeout: 3s
 *       subjectAccessReviewVersion: v1
 *       matchConditionSubjectAccessReviewVersion: v1
 *       failurePolicy: Deny
 *       connectionInfo: { type: KubeConfigFile, kubeConfigFile: /etc/plat/guard.kubeconfig }
 *       matchConditions:
 *       - expression: has(request.resourceAttributes)
 *   - { type: Node, name: node }
 *   - { type: RBAC, name: rbac }
 */
import { isAbsolute } from 'node:path';
import { ConfigFields, configurationError, readDocument } from '@plat-dev/kinds/configuration-file';
import { type ConfigExpression, compileConfigExpression } from '@plat-dev/kinds/expressions/config-expressions';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { authorizationModes } from '../authz/index.ts';
import { type ConfigSurroundings, configVersions } from './authentication-config.ts';

interface WebhookSettings {
  readonly allowedMillis: number;
  readonly refusedMillis: number;
  readonly timeoutMillis: number;
  readonly version: 'v1' | 'v1beta1';
  /** What a failure of the webhook decides. */
  readonly onFailure: 'none' | 'deny';
  readonly kubeConfigFile: string;
  readonly conditions: readonly ConfigExpression[];
}
export interface AuthorizerSettings {
  readonly type: string;
  readonly name: string;
  /** Of type Webhook. */
  readonly webhook?: WebhookSettings | undefined;
}

const MOST_AUTHORIZERS = 64;
const MOST_CONDITIONS = 64;
const LONGEST_TIMEOUT = 30_000;

/** Throws an Error. */
export function readAuthorizationConfig(text: string, surroundings: ConfigSurroundings): AuthorizerSettings[] {
  const versions = configVersions(surroundings, [
    ['v1alpha1', '1.29'],
    ['v1beta1', '1.30'],
    ['v1', '1.32'],
  ]);
  const document = readDocument(text, 'AuthorizationConfiguration', versions);
  const errors = new FieldErrors();
  const settings = new AuthorizationReader(errors, surroundings.release).read(document);
  if (!errors.empty) throw configurationError(errors);
  return settings;
}

class AuthorizationReader extends ConfigFields {
  readonly #release: string;
  readonly #types = new Set<string>();
  readonly #names = new Set<string>();

  constructor(errors: FieldErrors, release: string) {
    super(errors);
    this.#release = release;
  }

  read(document: JsonObject): AuthorizerSettings[] {
    this.checkFieldNames(document, Path.of(''), ['apiVersion', 'kind', 'authorizers']);
    const at = Path.of('authorizers');
    const entries = this.list(document.authorizers, at, 'at least one authorization mode must be defined');
    if (entries.length > MOST_AUTHORIZERS) {
      this.errors.tooMany(at, entries.length, MOST_AUTHORIZERS);
      return [];
    }
    return entries.map((entry, i) => this.#authorizer(entry, at.index(i)));
  }

  #authorizer(value: JsonValue, at: Path): AuthorizerSettings {
    const entry = this.object(value, at, ['type', 'name', 'webhook']);
    const type = this.text(entry.type, at.child('type'));
    if (type === '') this.errors.required(at.child('type'), `one of ${authorizationModes.join(', ')}`);
    else if (!(authorizationModes as readonly string[]).includes(type))
      this.errors.notSupported(at.child('type'), type, authorizationModes);
    else if (type !== 'Webhook' && this.#types.has(type)) this.errors.duplicate(at.child('type'), type);
    this.#types.add(type);
    const name = this.text(entry.name, at.child('name'));
    if (name === '') this.errors.required(at.child('name'), 'a name that metrics and logs have');
    else for (const fault of dns1123Subdomain(name)) this.errors.invalid(at.child('name'), name, fault);
    if (name !== '' && this.#names.has(name)) this.errors.duplicate(at.child('name'), name);
    this.#names.add(name);
    const hasWebhook = entry.webhook !== undefined && entry.webhook !== null;
    if (type !== 'Webhook') {
      if (hasWebhook) this.errors.invalid(at.child('webhook'), 'non-null', 'may only be specified when type=Webhook');
      return { type, name };
    }
    if (!hasWebhook) this.errors.required(at.child('webhook'), 'required when type=Webhook');
    return { type, name, webhook: hasWebhook ? this.#webhook(entry.webhook, at.child('webhook')) : undefined };
  }

  #webhook(value: JsonValue | undefined, at: Path): WebhookSettings {
    const webhook = this.object(value, at, webhookFields);
    const version = this.#oneOf(webhook.subjectAccessReviewVersion, at.child('subjectAccessReviewVersion'), ['v1', 'v1beta1']);
    const policy = this.#oneOf(webhook.failurePolicy, at.child('failurePolicy'), ['NoOpinion', 'Deny']);
    const timeoutMillis = this.#positive(webhook.timeout, at.child('timeout'));
    if (timeoutMillis > LONGEST_TIMEOUT) this.errors.invalid(at.child('timeout'), webhook.timeout, 'must be <= 30s');
    const authorizedMillis = this.#positive(webhook.authorizedTTL, at.child('authorizedTTL'), '5m');
    const unauthorizedMillis = this.#positive(webhook.unauthorizedTTL, at.child('unauthorizedTTL'), '30s');
    return {
      allowedMillis: this.bool(webhook.cacheAuthorizedRequests, at.child('cacheAuthorizedRequests'), true) ? authorizedMillis : 0,
      refusedMillis: this.bool(webhook.cacheUnauthorizedRequests, at.child('cacheUnauthorizedRequests'), true) ? unauthorizedMillis : 0,
      timeoutMillis,
      version: version === 'v1beta1' ? 'v1beta1' : 'v1',
      onFailure: policy === 'Deny' ? 'deny' : 'none',
      kubeConfigFile: this.#connection(webhook.connectionInfo, at.child('connectionInfo')),
      conditions: this.#conditions(webhook, at),
    };
  }

  #oneOf(value: JsonValue | undefined, at: Path, supported: readonly string[]): string {
    const text = this.text(value, at);
    if (text === '') this.errors.required(at, `one of ${supported.join(', ')}`);
    else if (!supported.includes(text)) this.errors.notSupported(at, text, supported);
    return text;
  }

  /** Milliseconds above 0. `usual`: where there are none; absent: they are required. */
  #positive(value: JsonValue | undefined, at: Path, usual?: string): number {
    const given = value ?? usual;
    if (given === undefined) {
      this.errors.required(at, 'a duration such as 3s');
      return 0;
    }
    const millis = this.duration(given, at);
    if (millis !== undefined && millis <= 0) this.errors.invalid(at, given, 'must be greater than zero');
    return millis ?? 0;
  }

  #connection(value: JsonValue | undefined, at: Path): string {
    const connection = this.object(value, at, ['type', 'kubeConfigFile']);
    const type = this.#oneOf(connection.type, at.child('type'), ['KubeConfigFile', 'InClusterConfig']);
    const here = at.child('kubeConfigFile');
    const file = this.text(connection.kubeConfigFile, here);
    if (type === 'InClusterConfig') this.errors.forbidden(at.child('type'), 'this server runs in no pod: use KubeConfigFile');
    else if (file === '') this.errors.required(here, 'the file that says how to reach the webhook');
    else if (!isAbsolute(file)) this.errors.invalid(here, file, 'must be an absolute path');
    return file;
  }

  #conditions(webhook: JsonObject, at: Path): ConfigExpression[] {
    const here = at.child('matchConditions');
    const entries = this.list(webhook.matchConditions, here);
    const versionAt = at.child('matchConditionSubjectAccessReviewVersion');
    const version = this.text(webhook.matchConditionSubjectAccessReviewVersion, versionAt);
    if (version === '' && entries.length > 0) this.errors.required(versionAt, 'required if match conditions are specified');
    if (version !== '' && version !== 'v1') this.errors.notSupported(versionAt, version, ['v1']);
    if (entries.length > MOST_CONDITIONS) {
      this.errors.tooMany(here, entries.length, MOST_CONDITIONS);
      return [];
    }
    const seen = new Set<string>();
    return entries.flatMap((entry, i) => {
      const condition = here.index(i).child('expression');
      const expression = this.text(this.object(entry, here.index(i), ['expression']).expression, condition);
      if (expression.trim() === '') {
        this.errors.required(condition, '');
        return [];
      }
      if (seen.has(expression)) this.errors.duplicate(condition, expression);
      seen.add(expression);
      try {
        return [compileConfigExpression(this.#release, expression, 'request', ['bool'])];
      } catch (error) {
        this.errors.invalid(condition, expression, (error as Error).message);
        return [];
      }
    });
  }
}

const webhookFields = [
  'authorizedTTL',
  'cacheAuthorizedRequests',
  'unauthorizedTTL',
  'cacheUnauthorizedRequests',
  'timeout',
  'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion',
  'failurePolicy',
  'connectionInfo',
  'matchConditions',
];
