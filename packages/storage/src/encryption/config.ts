/**
 * The file of `--encryption-provider-config`, as stock servers read it:
 *
 *   apiVersion: apiserver.config.<suffix of the identity>/v1
 *   kind: EncryptionConfiguration
 *   resources:
 *   - resources: [secrets, configmaps, widgets.example.com]
 *     providers:                       # the first writes, all read
 *     - aescbc: { keys: [{ name: key2, secret: <base64> }, { name: key1, secret: <base64> }] }
 *     - kms: { name: vault, endpoint: unix:///run/kms.sock, cachesize: 1000, timeout: 3s }
 *     - identity: {}
 *
 * A resource that several entries name has the providers of all of them, in order. `*.apps` names all of a group, `*.` those of the core
 * group, `*.*` everything: such an entry counts for what no closer one names. Errors never contain
 * keys: they name fields, not their values.
 */

import { ConfigFields, configurationError, LARGEST_CONFIGURATION, millisOf, readDocument } from '@plat-dev/kinds/configuration-file';
import type { Kind } from '@plat-dev/kinds/kind';
import { didYouMean } from '@plat-dev/lib/suggest';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { baseGroup, groupName, type Identity, kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { type Key, keySizes, type LocalProviderName } from './provider.ts';
import { LONGEST_NAME, providerNames } from './stored-form.ts';

export type ProviderConfig =
  | { readonly type: 'identity' }
  | { readonly type: LocalProviderName; readonly keys: readonly Key[] }
  | {
      readonly type: 'kms';
      readonly version: 'v1' | 'v2';
      readonly name: string;
      /** Path of the socket. */
      readonly socket: string;
      readonly cacheSize: number;
      readonly timeoutMs: number;
    };
/** All resources of a group, or all. */
interface Wildcard {
  /** `apps/*`, `~example.com/*`, `*` */
  readonly pattern: string;
  /** The collections of built-in kinds that it stands for. */
  readonly collections: readonly string[];
}
export interface EncryptionRule {
  /** Prefixes of keys in the store: `core/secrets/`, `~example.com/widgets/`. */
  readonly collections: readonly string[];
  /** Names with a star, which stand for what no name is given for. */
  readonly wildcards: readonly Wildcard[];
  readonly providers: readonly ProviderConfig[];
}

/** The configuration is invalid. The message names every error. */
class EncryptionConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EncryptionConfigError';
  }
}

const DEFAULT_CACHE_SIZE = 1000;
const MOST_CACHE_SIZE = 1_000_000;
const DEFAULT_TIMEOUT_MS = 3000;
const LONGEST_TIMEOUT_MS = 60_000;

export { LARGEST_CONFIGURATION as LARGEST_FILE };

/** The built-in kinds define which resources exist, and which share a prefix in the store. */
export type KnownKind = Pick<Kind, 'group' | 'plural' | 'sharesStoreOf' | 'virtual'>;

/** Throws EncryptionConfigError. */
export function readEncryptionConfig(text: Buffer, identity: Identity, kinds: readonly KnownKind[]): EncryptionRule[] {
  // Files of stock servers are read under every identity.
  const versions = [...new Set([identity, kubernetes])].map((one) => joinApiVersion(groupName(one, 'apiserver.config'), 'v1'));
  let document: JsonObject;
  try {
    document = readDocument(text, 'EncryptionConfiguration', versions);
  } catch (error) {
    throw new EncryptionConfigError((error as Error).message);
  }
  const errors = new FieldErrors();
  const rules = new ConfigReader(errors, identity, kinds).rules(document);
  if (!errors.empty) throw new EncryptionConfigError(configurationError(errors).message);
  return rules;
}

const overlapping =
  'names and stars of one list must not stand for the same resource: give each a list of its own, of which the closest counts';

function collectionOf(kind: KnownKind): string {
  const { group, plural } = kind.sharesStoreOf ?? kind;
  return `${group === '' ? 'core' : group}/${plural}/`;
}
/** Whether a pattern stands for a collection. */
const isOf = (pattern: string, collection: string): boolean => collection.startsWith(pattern.slice(0, -1));

class ConfigReader extends ConfigFields {
  readonly #identity: Identity;
  readonly #kinds: readonly KnownKind[];
  readonly #kmsNames = new Map<string, string>();

  constructor(errors: FieldErrors, identity: Identity, kinds: readonly KnownKind[]) {
    super(errors);
    this.#identity = identity;
    this.#kinds = kinds;
  }

  rules(document: JsonObject): EncryptionRule[] {
    this.checkFieldNames(document, Path.of(''), ['apiVersion', 'kind', 'resources']);
    const at = Path.of('resources');
    return this.list(document.resources, at, 'no resource is named to be encrypted').map((entry, i) => {
      const rule = this.object(entry, at.index(i), ['resources', 'providers']);
      const names = at.index(i).child('resources');
      const providers = at.index(i).child('providers');
      return {
        ...this.#named(this.list(rule.resources, names, 'at least one resource is needed'), names),
        providers: this.list(rule.providers, providers, 'at least one provider is needed').flatMap((provider, j) =>
          this.#provider(provider, providers.index(j)),
        ),
      };
    });
  }

  #named(values: readonly JsonValue[], at: Path): Pick<EncryptionRule, 'collections' | 'wildcards'> {
    const wildcards: Wildcard[] = [];
    const collections = values.flatMap((value, j) => {
      if (typeof value !== 'string' || !value.includes('*'))
        return this.#collections(value, at.index(j)).map((one) => ({ one, at: at.index(j) }));
      const wildcard = this.#wildcard(value, at.index(j));
      if (wildcard !== undefined && this.#overlaps(wildcard, wildcards)) this.errors.forbidden(at.index(j), overlapping);
      if (wildcard !== undefined) wildcards.push(wildcard);
      return [];
    });
    for (const { one, at: here } of collections)
      if (wildcards.some(({ pattern }) => isOf(pattern, one))) this.errors.forbidden(here, overlapping);
    return { collections: collections.map(({ one }) => one), wildcards };
  }
  #overlaps({ pattern }: Wildcard, others: readonly Wildcard[]): boolean {
    return others.some((other) => other.pattern === pattern || other.pattern === '*' || pattern === '*');
  }

  /** `*.apps` → `apps/*`; `*.` → `core/*`; `*.*` → `*`. */
  #wildcard(value: string, at: Path): Wildcard | undefined {
    const stored = [...new Set(this.#kinds.filter((kind) => !kind.virtual).map(collectionOf))];
    if (value === '*.*') return { pattern: '*', collections: stored };
    const group = /^\*\.([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/.exec(value);
    if (group === null) {
      const hint =
        value === '*'
          ? "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
          : 'a star stands for all resources of a group, as in *.apps, or in *.* for everything';
      this.errors.invalid(at, value, hint);
      return undefined;
    }
    const base = baseGroup(this.#identity, group[1] ?? '');
    const isKnown = base !== undefined && this.#kinds.some((kind) => kind.group === base);
    const pattern = isKnown ? `${base === '' ? 'core' : base}/*` : `~${group[1]}/*`;
    return { pattern, collections: stored.filter((collection) => isOf(pattern, collection)) };
  }

  /** `secrets` → `core/secrets/`; `widgets.example.com` → `~example.com/widgets/`. */
  #collections(value: JsonValue, at: Path): string[] {
    if (typeof value !== 'string' || value === '') {
      this.errors.required(at, 'the name of a resource, such as secrets or widgets.example.com');
      return [];
    }
    if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(value)) {
      this.errors.invalid(at, value, 'must be the plural name of a resource and its group: secrets, deployments.apps, widgets.example.com');
      return [];
    }
    const dot = value.indexOf('.');
    const [plural, group] = dot < 0 ? [value, ''] : [value.slice(0, dot), value.slice(dot + 1)];
    const base = baseGroup(this.#identity, group);
    const custom = `~${group}/${plural}/`;
    if (base === undefined) return [custom];
    const kind = this.#kinds.find((one) => one.group === base && one.plural === plural);
    if (kind !== undefined && !kind.virtual) return [collectionOf(kind)];
    // A custom resource may have a group that ends like those of the server's own.
    if (kind === undefined && base !== '' && group.includes('.')) return [custom];
    const core = this.#kinds.filter((one) => one.group === base && !one.virtual).map((one) => one.plural);
    this.errors.invalid(at, value, `there is no such resource that is stored${didYouMean(plural, core)}`);
    return [];
  }

  #provider(value: JsonValue, at: Path): ProviderConfig[] {
    const entry = this.object(value, at, providerNames);
    const providerTypes = providerNames.filter((name) => name in entry);
    if (providerTypes.length > 1) {
      this.errors.forbidden(at, 'more than one provider in an element of the list; give each an element of its own');
      return [];
    }
    const [type] = providerTypes;
    if (type === undefined) {
      this.errors.required(at, `one of ${providerNames.join(', ')}`);
      return [];
    }
    const here = at.child(type);
    if (type === 'identity') {
      // Stock files write `identity: {}`; an empty value means the same.
      if (entry.identity !== null) this.object(entry.identity, here, []);
      return [{ type }];
    }
    if (type === 'kms') return this.#kms(this.object(entry.kms, here, ['apiVersion', 'name', 'endpoint', 'cachesize', 'timeout']), here);
    const keys = here.child('keys');
    const { keys: list } = this.object(entry[type], here, ['keys']);
    return [{ type, keys: this.list(list, keys, 'at least one key is needed').flatMap((key, i) => this.#key(type, key, keys.index(i))) }];
  }

  #key(type: LocalProviderName, value: JsonValue, at: Path): Key[] {
    const { name, secret } = this.object(value, at, ['name', 'secret']);
    const keyName = this.#name(name, at.child('name'), 'key');
    const here = at.child('secret');
    if (typeof secret !== 'string' || secret === '') {
      this.errors.required(here, 'the key in base64');
      return [];
    }
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(secret) || secret.length % 4 !== 0) {
      this.errors.add('FieldValueInvalid', here, 'Invalid value: "REDACTED": must be standard base64, with padding');
      return [];
    }
    const bytes = Buffer.from(secret, 'base64');
    const sizes = keySizes[type];
    if (!sizes.includes(bytes.length)) {
      const allowedSizes = sizes.length === 1 ? `${sizes[0]}` : `${sizes.slice(0, -1).join(', ')} or ${sizes.at(-1)}`;
      this.errors.add(
        'FieldValueInvalid',
        here,
        `Invalid value: "REDACTED": a key of ${type} has ${allowedSizes} bytes, not ${bytes.length}`,
      );
      return [];
    }
    return keyName === undefined ? [] : [{ name: keyName, secret: bytes }];
  }

  #kms({ apiVersion, name, endpoint, cachesize, timeout }: JsonObject, at: Path): ProviderConfig[] {
    const { list } = this.errors;
    const countBefore = list.length;
    const version = apiVersion ?? 'v1';
    if (version !== 'v1' && version !== 'v2') this.errors.notSupported(at.child('apiVersion'), version, ['v1', 'v2']);
    if (version === 'v2' && cachesize !== undefined && cachesize !== null)
      this.errors.invalid(at.child('cachesize'), cachesize, 'cachesize is not supported in v2');
    const pluginName = this.#name(name, at.child('name'), 'plug-in');
    const socket = this.#socket(endpoint, at.child('endpoint'));
    const cacheSize = cachesize ?? DEFAULT_CACHE_SIZE;
    if (typeof cacheSize !== 'number' || !Number.isInteger(cacheSize) || cacheSize < 1 || cacheSize > MOST_CACHE_SIZE)
      this.errors.invalid(at.child('cachesize'), cacheSize, `must be a whole number from 1 to ${MOST_CACHE_SIZE}`);
    const timeoutMs = timeout === undefined || timeout === null ? DEFAULT_TIMEOUT_MS : millisOf(timeout);
    if (timeoutMs === undefined || timeoutMs <= 0 || timeoutMs > LONGEST_TIMEOUT_MS)
      this.errors.invalid(at.child('timeout'), timeout, 'must be a duration above 0 and up to 1m, such as 3s');
    if (list.length > countBefore || pluginName === undefined || socket === undefined) return [];
    const knownName = `${version} ${pluginName}`;
    const other = this.#kmsNames.get(knownName);
    if (other !== undefined && other !== socket) {
      this.errors.duplicate(at.child('name'), pluginName);
      return [];
    }
    this.#kmsNames.set(knownName, socket);
    return [
      {
        type: 'kms',
        version: version === 'v2' ? 'v2' : 'v1',
        name: pluginName,
        socket,
        cacheSize: cacheSize as number,
        timeoutMs: timeoutMs as number,
      },
    ];
  }

  #socket(endpoint: JsonValue | undefined, at: Path): string | undefined {
    if (typeof endpoint !== 'string' || endpoint === '') {
      this.errors.required(at, 'the socket of the plug-in, such as unix:///run/kms.sock');
      return undefined;
    }
    const path = /^unix:\/\/(\/[^?#]+)$/.exec(endpoint)?.[1];
    if (path === undefined) this.errors.invalid(at, endpoint, 'must be the path of a Unix socket: unix:///run/kms.sock');
    return path;
  }

  /** Names are part of stored values, between colons. */
  #name(value: JsonValue | undefined, at: Path, of: string): string | undefined {
    if (typeof value !== 'string' || value === '') {
      this.errors.required(at, `the name of the ${of}`);
      return undefined;
    }
    if (!/^[\x21-\x39\x3b-\x7e]+$/.test(value)) {
      this.errors.invalid(at, value, 'must be printable ASCII without spaces and colons');
      return undefined;
    }
    if (value.length > LONGEST_NAME) {
      this.errors.tooLong(at, LONGEST_NAME);
      return undefined;
    }
    return value;
  }
}
