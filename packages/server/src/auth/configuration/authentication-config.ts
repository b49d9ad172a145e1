/**
 * The file of `--authentication-config`, as stock servers read it:
 *
 *   apiVersion: apiserver.config.<suffix of the identity>/v1
 *   kind: AuthenticationConfiguration
 *   jwt:
 *   - issuer: { url: https://issuer.example.com, audiences: [plat] }
 *     claimValidationRules: [{ expression: 'claims.hd == "example.com"', message: only our people }]
 *     claimMappings:
 *       username: { claim: sub, prefix: 'people:' }
 *       groups: { expression: claims.roles }
 *     userValidationRules: [{ expression: '!user.username.startsWith("system:")' }]
 *   anonymous: { enabled: true, conditions: [{ path: /healthz }] }
 *
 * Errors name the path of each field.
 */
import { X509Certificate } from 'node:crypto';
import { ConfigFields, configurationError, readDocument } from '@plat-dev/kinds/configuration-file';
import { type ConfigExpression, compileConfigExpression, readsField } from '@plat-dev/kinds/expressions/config-expressions';
import { jsonText } from '@plat-dev/lib/json-text';
import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity, kubernetes } from '@plat-dev/meta/identity';
import { domainPrefixedPath } from '@plat-dev/meta/names';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { ClaimRules, ClaimSource, HeldRule } from './claim-rules.ts';

export interface JwtSettings {
  /** By what the file says of it: the same settings have the same text. */
  readonly id: string;
  readonly issuerURL: string;
  readonly discoveryURL?: string | undefined;
  readonly ca?: string | undefined;
  readonly audiences: readonly string[];
  readonly rules: ClaimRules;
}
interface AnonymousSettings {
  readonly enabled: boolean;
  /** Absent: all paths. */
  readonly paths?: readonly string[] | undefined;
}
export interface AuthenticationSettings {
  readonly jwt: readonly JwtSettings[];
  /** Absent: the file does not say. */
  readonly anonymous?: AnonymousSettings | undefined;
}

export interface ConfigSurroundings {
  readonly identity: Identity;
  readonly release: string;
  feature(gate: string): boolean;
}

/** The names of a version of the file in the servers of a release. */
export function configVersions(
  { identity, release }: ConfigSurroundings,
  since: readonly (readonly [version: string, release: string])[],
): string[] {
  const versions = since.filter(([, first]) => isAtLeast(release, first)).map(([version]) => version);
  // Files of stock servers are read under every identity.
  return [...new Set([identity, kubernetes])].flatMap((one) =>
    versions.map((version) => joinApiVersion(groupName(one, 'apiserver.config'), version)),
  );
}

const MOST_ISSUERS = 64;
/** Of each kind, in all issuers together they are bounded by the size of the file. */
const MOST_RULES = 64;

/** Throws an Error. `ownIssuers`: those of service account tokens, which no provider may have. */
export function readAuthenticationConfig(
  text: string,
  surroundings: ConfigSurroundings,
  ownIssuers: readonly string[],
): AuthenticationSettings {
  const versions = configVersions(surroundings, [
    ['v1alpha1', '1.29'],
    ['v1beta1', '1.30'],
    ['v1', '1.34'],
  ]);
  const document = readDocument(text, 'AuthenticationConfiguration', versions);
  const errors = new FieldErrors();
  const settings = new AuthenticationReader(errors, surroundings, ownIssuers).read(document);
  if (!errors.empty) throw configurationError(errors);
  return settings;
}

class AuthenticationReader extends ConfigFields {
  readonly #surroundings: ConfigSurroundings;
  readonly #ownIssuers: readonly string[];
  readonly #issuers = new Set<string>();
  readonly #discoveries = new Set<string>();

  constructor(errors: FieldErrors, surroundings: ConfigSurroundings, ownIssuers: readonly string[]) {
    super(errors);
    this.#surroundings = surroundings;
    this.#ownIssuers = ownIssuers;
  }

  read(document: JsonObject): AuthenticationSettings {
    this.checkFieldNames(document, Path.of(''), ['apiVersion', 'kind', 'jwt', 'anonymous']);
    const at = Path.of('jwt');
    const entries = this.list(document.jwt, at);
    if (entries.length > MOST_ISSUERS) {
      this.errors.tooMany(at, entries.length, MOST_ISSUERS);
      return { jwt: [] };
    }
    const jwt = entries.flatMap((entry, i) => this.#jwt(entry, at.index(i)));
    return { jwt, anonymous: this.#anonymous(document.anonymous, Path.of('anonymous')) };
  }

  #anonymous(value: JsonValue | undefined, at: Path): AnonymousSettings | undefined {
    const object = this.optionalObject(value, at, ['enabled', 'conditions']);
    if (object === undefined) return undefined;
    if (!this.#surroundings.feature('AnonymousAuthConfigurableEndpoints')) {
      this.errors.forbidden(at, 'anonymous is not supported when the feature AnonymousAuthConfigurableEndpoints is off');
      return undefined;
    }
    const enabled = this.bool(object.enabled, at.child('enabled'), false);
    const conditions = at.child('conditions');
    const paths = this.list(object.conditions, conditions).map((condition, i) => {
      const { path } = this.object(condition, conditions.index(i), ['path']);
      const text = this.text(path, conditions.index(i).child('path'));
      if (text === '') this.errors.required(conditions.index(i).child('path'), 'the path of requests that need no credentials');
      return text;
    });
    if (paths.length > 0 && !enabled)
      this.errors.invalid(conditions, object.conditions, 'enabled should be set to true when conditions are defined');
    return { enabled, ...(paths.length > 0 && { paths }) };
  }

  #jwt(value: JsonValue, at: Path): JwtSettings[] {
    const fields = ['issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules'];
    const entry = this.object(value, at, fields);
    const issuer = this.#issuer(entry.issuer, at.child('issuer'));
    const rules = this.#rules(entry, at);
    return [{ id: jsonText(value), ...issuer, rules }];
  }

  #issuer(value: JsonValue | undefined, at: Path): Omit<JwtSettings, 'id' | 'rules'> {
    const fields = ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy', 'egressSelectorType'];
    const issuer = this.object(value, at, fields);
    const issuerURL = this.text(issuer.url, at.child('url'));
    this.#checkURL(issuerURL, at.child('url'));
    if (this.#issuers.has(issuerURL)) this.errors.duplicate(at.child('url'), issuerURL);
    this.#issuers.add(issuerURL);
    if (this.#ownIssuers.includes(issuerURL))
      this.errors.invalid(at.child('url'), issuerURL, `URL must not overlap with disallowed issuers: [${this.#ownIssuers.join(' ')}]`);
    const discoveryURL = this.#discoveryURL(issuer.discoveryURL, issuerURL, at.child('discoveryURL'));
    const egress = this.text(issuer.egressSelectorType, at.child('egressSelectorType'));
    if (egress !== '') this.errors.forbidden(at.child('egressSelectorType'), 'this server has no egress selectors');
    const ca = this.text(issuer.certificateAuthority, at.child('certificateAuthority'));
    if (ca !== '' && !isCertificate(ca))
      this.errors.add('FieldValueInvalid', at.child('certificateAuthority'), 'Invalid value: "<omitted>": must be certificates in PEM');
    return {
      issuerURL,
      ...(discoveryURL !== '' && { discoveryURL }),
      ...(ca !== '' && { ca }),
      audiences: this.#audiences(issuer, at),
    };
  }

  #discoveryURL(value: JsonValue | undefined, issuerURL: string, at: Path): string {
    const url = this.text(value, at);
    if (url === '') return '';
    this.#checkURL(url, at);
    if (url.replace(/\/$/, '') === issuerURL.replace(/\/$/, '')) this.errors.invalid(at, url, 'discoveryURL must be different from URL');
    if (this.#discoveries.has(url)) this.errors.duplicate(at, url);
    this.#discoveries.add(url);
    return url;
  }

  #checkURL(text: string, at: Path): void {
    if (text === '') this.errors.required(at, 'URL is required');
    else if (!URL.canParse(text)) this.errors.invalid(at, text, 'must be a URL');
    if (!URL.canParse(text)) return;
    const url = new URL(text);
    if (url.protocol !== 'https:') this.errors.invalid(at, text, 'URL scheme must be https');
    if (url.username !== '' || url.password !== '') this.errors.invalid(at, url.origin, 'URL must not contain a username or password');
    if (url.search !== '') this.errors.invalid(at, text, 'URL must not contain a query');
    if (url.hash !== '') this.errors.invalid(at, text, 'URL must not contain a fragment');
  }

  #audiences(issuer: JsonObject, at: Path): string[] {
    const here = at.child('audiences');
    const audiences = this.list(issuer.audiences, here, `at least one ${here} is required`).map((value, i) => {
      const audience = this.text(value, here.index(i));
      if (audience === '') this.errors.required(here.index(i), "audience can't be empty");
      return audience;
    });
    for (const [i, audience] of audiences.entries()) if (audiences.indexOf(audience) < i) this.errors.duplicate(here.index(i), audience);
    const policy = this.text(issuer.audienceMatchPolicy, at.child('audienceMatchPolicy'));
    if (audiences.length > 1 && policy !== 'MatchAny')
      this.errors.invalid(at.child('audienceMatchPolicy'), policy, 'audienceMatchPolicy must be set to MatchAny for multiple audiences');
    else if (policy !== '' && policy !== 'MatchAny')
      this.errors.invalid(at.child('audienceMatchPolicy'), policy, 'audienceMatchPolicy must be empty or MatchAny for single audience');
    return audiences;
  }

  #rules(entry: JsonObject, at: Path): ClaimRules {
    const mappingsAt = at.child('claimMappings');
    const mappings = this.object(entry.claimMappings, mappingsAt, ['username', 'groups', 'uid', 'extra']);
    const username = this.#source(mappings.username, mappingsAt.child('username'), { isRequired: true, results: ['string'] });
    const groups = this.#source(mappings.groups, mappingsAt.child('groups'), { results: [...textResults, 'null_type'] });
    const uid = this.#source(mappings.uid, mappingsAt.child('uid'), { results: ['string'], hasPrefix: false });
    const extra = this.#extra(mappings.extra, mappingsAt.child('extra'));
    const { required, claimRules } = this.#claimRules(entry.claimValidationRules, at.child('claimValidationRules'));
    const userRules = this.#userRules(entry.userValidationRules, at.child('userValidationRules'));
    if (username !== undefined && 'expression' in username)
      this.#checkEmail(
        username.expression,
        [...extra.map(({ value }) => value), ...claimRules.map(({ expression }) => expression)],
        mappingsAt,
      );
    return { mappings: { username: username ?? { claim: 'sub', prefix: '' }, groups, uid, extra }, required, claimRules, userRules };
  }

  /** Whoever takes an address as a name must look whether it was verified. */
  #checkEmail(username: ConfigExpression, others: readonly ConfigExpression[], at: Path): void {
    if (!readsField(username.source, 'claims', 'email')) return;
    if ([username, ...others].some(({ source }) => readsField(source, 'claims', 'email_verified'))) return;
    this.errors.invalid(
      at.child('username').child('expression'),
      username.source,
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    );
  }

  #source(
    value: JsonValue | undefined,
    at: Path,
    { isRequired = false, hasPrefix = true, results }: { isRequired?: boolean; hasPrefix?: boolean; results: readonly string[] },
  ): ClaimSource | undefined {
    const source = this.optionalObject(value, at, hasPrefix ? ['claim', 'prefix', 'expression'] : ['claim', 'expression']) ?? {};
    const claim = this.text(source.claim, at.child('claim'));
    const expression = this.text(source.expression, at.child('expression'));
    const prefix = this.text(source.prefix, at.child('prefix'));
    if (claim !== '' && expression !== '') {
      this.errors.invalid(at, '', "claim and expression can't both be set");
      return undefined;
    }
    if (claim === '' && expression === '') {
      if (isRequired) this.errors.required(at, 'claim or expression is required');
      if (prefix !== '') this.errors.invalid(at.child('prefix'), prefix, 'non-empty prefix without a claim');
      return undefined;
    }
    if (expression !== '') {
      if (source.prefix !== undefined && source.prefix !== null)
        this.errors.invalid(at.child('prefix'), prefix, "prefix can't be set when expression is set");
      const compiled = this.#compile(expression, at.child('expression'), 'claims', results);
      return compiled && { expression: compiled };
    }
    if (hasPrefix && (source.prefix === undefined || source.prefix === null))
      this.errors.required(
        at.child('prefix'),
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      );
    return { claim, prefix };
  }

  #extra(value: JsonValue | undefined, at: Path): ClaimRules['mappings']['extra'] {
    const keys = new Set<string>();
    return this.#bounded(value, at).flatMap((entry, i) => {
      const here = at.index(i);
      const { key, valueExpression } = this.object(entry, here, ['key', 'valueExpression']);
      const name = this.text(key, here.child('key'));
      this.#checkExtraKey(name, keys, here.child('key'));
      const source = this.text(valueExpression, here.child('valueExpression'));
      if (source === '') this.errors.required(here.child('valueExpression'), 'valueExpression is required');
      const compiled =
        source === '' ? undefined : this.#compile(source, here.child('valueExpression'), 'claims', [...textResults, 'null_type']);
      return compiled === undefined ? [] : [{ key: name, value: compiled }];
    });
  }
  #checkExtraKey(name: string, keys: Set<string>, at: Path): void {
    if (name === '') {
      this.errors.required(at, 'the key of an extra value, such as example.com/department');
      return;
    }
    for (const fault of domainPrefixedPath(name)) this.errors.invalid(at, name, fault);
    if (name !== name.toLowerCase()) this.errors.invalid(at, name, 'key must be lowercase');
    const domain = name.slice(0, name.indexOf('/'));
    const { domain: ownDomain, groupSuffix } = this.#surroundings.identity;
    const reserved = [...new Set([kubernetes.domain, kubernetes.groupSuffix, ownDomain, groupSuffix])];
    if (reserved.some((one) => domain === one || domain.endsWith(`.${one}`)))
      this.errors.invalid(at, name, `${reserved.join(', ')} and their subdomains are reserved`);
    if (keys.has(name)) this.errors.duplicate(at, name);
    keys.add(name);
  }

  #claimRules(value: JsonValue | undefined, at: Path): Pick<ClaimRules, 'required' | 'claimRules'> {
    const required: { claim: string; value: string }[] = [];
    const claimRules: HeldRule[] = [];
    const seen = new Set<string>();
    for (const [i, entry] of this.#bounded(value, at).entries()) {
      const here = at.index(i);
      const rule = this.object(entry, here, ['claim', 'requiredValue', 'expression', 'message']);
      const claim = this.text(rule.claim, here.child('claim'));
      const requiredValue = this.text(rule.requiredValue, here.child('requiredValue'));
      const expression = this.text(rule.expression, here.child('expression'));
      const message = this.text(rule.message, here.child('message'));
      if (claim === '' && expression === '') this.errors.required(here, 'claim or expression is required');
      else if (claim !== '' && expression !== '') this.errors.invalid(here, claim, "claim and expression can't both be set");
      else if (claim !== '') {
        if (message !== '') this.errors.invalid(here.child('message'), message, "message can't be set when claim is set");
        this.#once(`claim ${claim}`, claim, seen, here.child('claim'));
        required.push({ claim, value: requiredValue });
      } else {
        if (requiredValue !== '')
          this.errors.invalid(here.child('requiredValue'), requiredValue, "requiredValue can't be set when expression is set");
        this.#once(expression, expression, seen, here.child('expression'));
        const compiled = this.#compile(expression, here.child('expression'), 'claims', ['bool']);
        if (compiled !== undefined) claimRules.push({ expression: compiled, message });
      }
    }
    return { required, claimRules };
  }

  #userRules(value: JsonValue | undefined, at: Path): HeldRule[] {
    const seen = new Set<string>();
    return this.#bounded(value, at).flatMap((entry, i) => {
      const here = at.index(i);
      const rule = this.object(entry, here, ['expression', 'message']);
      const expression = this.text(rule.expression, here.child('expression'));
      const message = this.text(rule.message, here.child('message'));
      if (expression === '') this.errors.required(here.child('expression'), 'expression is required');
      this.#once(expression, expression, seen, here.child('expression'));
      const compiled = expression === '' ? undefined : this.#compile(expression, here.child('expression'), 'user', ['bool']);
      return compiled === undefined ? [] : [{ expression: compiled, message }];
    });
  }

  #once(key: string, shown: string, seen: Set<string>, at: Path): void {
    if (seen.has(key)) this.errors.duplicate(at, shown);
    seen.add(key);
  }

  #bounded(value: JsonValue | undefined, at: Path): readonly JsonValue[] {
    const entries = this.list(value, at);
    if (entries.length <= MOST_RULES) return entries;
    this.errors.tooMany(at, entries.length, MOST_RULES);
    return [];
  }

  #compile(source: string, at: Path, about: 'claims' | 'user', results: readonly string[]): ConfigExpression | undefined {
    try {
      return compileConfigExpression(this.#surroundings.release, source, about, results);
    } catch (error) {
      this.errors.invalid(at, source, (error as Error).message);
      return undefined;
    }
  }
}

const textResults = ['string', 'list(string)', 'list(dyn)'];

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
