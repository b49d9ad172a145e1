/** The rules of one configuration file: which collections are encrypted, by which providers. */
import { createHash } from 'node:crypto';
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import type { Engine } from '../engine.ts';
import type { EncryptionRule, ProviderConfig } from './config.ts';
import { Envelope } from './envelope.ts';
import { KMS_V2_VERSIONS, Kms, type KmsTransport } from './kms.ts';
import type { EnvelopeObserver } from './plugin-keys.ts';
import { identityProvider, localProvider, type Provider } from './provider.ts';
import { SeedEnvelope } from './seed-envelope.ts';
import { storedPrefix } from './stored-form.ts';
import { Transformer, type TransformObserver } from './transformer.ts';

export interface RuleDeps {
  readonly identity: Identity;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: TransformObserver & EnvelopeObserver;
  /** Connects to a plug-in; the same calls are used until it is closed. */
  readonly connect: (socket: string, timeoutMs: number, version: 'v1' | 'v2') => KmsTransport;
  /** Called when a plug-in fails, with the reason, and when it works again, without one. */
  readonly pluginChanged?: (name: string, socket: string, error: string | undefined) => void;
}

/** A provider in another process. */
type PluginProvider = Envelope | SeedEnvelope;
/** What collections of custom kinds begin with. */
const CUSTOM = '~';
/** `core/secrets/team/db` → `core/secrets/` */
const collectionOf = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);

export class EncryptionRules {
  readonly #byCollection = new Map<string, Transformer>();
  readonly #byPattern = new Map<string, readonly Provider[]>();
  readonly #deps: RuleDeps;
  #lastKey = '';
  #last: Transformer | undefined;
  /** Plug-ins in the order of the file. */
  readonly plugins: readonly PluginProvider[];

  /** Plug-ins of the previous rules with the same settings are taken over, with their cached keys. */
  constructor(rules: readonly EncryptionRule[], deps: RuleDeps, previousRules?: EncryptionRules) {
    const plugins = new Map<string, PluginProvider>();
    const previousPlugins = new Map((previousRules?.plugins ?? []).map((plugin) => [plugin.id, plugin]));
    const envelope = (config: Extract<ProviderConfig, { type: 'kms' }>): PluginProvider => {
      const id = kmsId(config);
      const plugin = plugins.get(id) ?? previousPlugins.get(id) ?? makeEnvelope(config, id, deps);
      plugins.set(id, plugin);
      return plugin;
    };
    const providersOf = (config: ProviderConfig): Provider[] => {
      if (config.type === 'identity') return [identityProvider(deps.identity)];
      if (config.type === 'kms') return [envelope(config)];
      return config.keys.map((key) => localProvider(config.type, key, deps.identity, deps.random));
    };
    this.#deps = deps;
    for (const { collections, wildcards, providers } of rules) {
      const ruleProviders = providers.flatMap(providersOf);
      for (const collection of collections)
        this.#add(collection, [...(this.#byCollection.get(collection)?.providers ?? []), ...ruleProviders]);
      for (const { pattern } of wildcards) this.#byPattern.set(pattern, [...(this.#byPattern.get(pattern) ?? []), ...ruleProviders]);
    }
    for (const { wildcards } of rules)
      for (const { collections } of wildcards)
        for (const collection of collections) if (!this.#byCollection.has(collection)) this.#byWildcard(collection);
    this.plugins = [...plugins.values()];
  }

  #add(collection: string, providers: readonly Provider[]): Transformer {
    const transformer = new Transformer(collection, providers, this.#deps.observer, () => this.#deps.clock.monotonic());
    this.#byCollection.set(collection, transformer);
    return transformer;
  }

  /** Of custom kinds that a pattern stands for those are known that were asked for: `see` asks for all that a store has. */
  get collections(): readonly string[] {
    return [...this.#byCollection.keys()];
  }
  ofCollection(collection: string): Transformer | undefined {
    const transformer = this.#byCollection.get(collection);
    // Those of built-in kinds are all known; what else a store holds is no object.
    return transformer ?? (collection.startsWith(CUSTOM) ? this.#byWildcard(collection) : undefined);
  }
  #byWildcard(collection: string): Transformer | undefined {
    if (this.#byPattern.size === 0) return undefined;
    // The closest counts: the group before everything.
    const providers = this.#byPattern.get(`${collection.slice(0, collection.indexOf('/'))}/*`) ?? this.#byPattern.get('*');
    return providers && this.#add(collection, providers);
  }
  /** Asks for each collection of custom kinds in a store, by one read each. */
  async see(store: Pick<Engine, 'range'>): Promise<void> {
    if (this.#byPattern.size === 0) return;
    for (let from: string | undefined; ; ) {
      const page = await store.range({ prefix: CUSTOM, limit: 1, uncounted: true, ...(from !== undefined && { from }) });
      const [first] = page.entries;
      if (first === undefined) return;
      const collection = collectionOf(first.key);
      this.ofCollection(collection);
      // The character after the slash: what follows is of another collection.
      from = `${collection.slice(0, -1)}0`;
    }
  }
  /** `core/secrets/team/db` → the rule of `core/secrets/`. */
  of(key: string): Transformer | undefined {
    // A write is delivered after it was encrypted: the same key twice.
    if (key === this.#lastKey) return this.#last;
    this.#lastKey = key;
    this.#last = this.ofCollection(collectionOf(key));
    return this.#last;
  }

  /** Collections of which these rules may not be able to read everything that the previous ones could. */
  lostAgainst(previousRules: EncryptionRules): string[] {
    const all = new Set([...previousRules.collections, ...this.collections]);
    return [...all].filter((collection) => {
      const readers = this.#readers(collection);
      return [...previousRules.#readers(collection)].some((id) => !readers.has(id));
    });
  }
  /** Other collections are read unchanged. */
  #readers(collection: string): ReadonlySet<string> {
    return new Set(this.ofCollection(collection)?.providers.map(({ id }) => id) ?? ['identity']);
  }

  /** Closes connections to plug-ins that the next rules do not use. */
  close(next?: EncryptionRules): void {
    for (const plugin of this.plugins) if (!next?.plugins.includes(plugin)) plugin.kms.close();
  }
}

const kmsId = ({ version, name, socket, cacheSize, timeoutMs }: Extract<ProviderConfig, { type: 'kms' }>): string =>
  createHash('sha256')
    .update(JSON.stringify([version, name, socket, cacheSize, timeoutMs]))
    .digest('base64');

function makeEnvelope(config: Extract<ProviderConfig, { type: 'kms' }>, id: string, deps: RuleDeps): PluginProvider {
  const { version, name, socket, cacheSize, timeoutMs } = config;
  const { clock, random, observer } = deps;
  const transport = deps.connect(socket, timeoutMs, version);
  const changed = (error: string | undefined): void => deps.pluginChanged?.(name, socket, error);
  const options = {
    prefix: Buffer.from(storedPrefix(deps.identity, 'kms', name, version), 'latin1'),
    id,
    kms: new Kms(name, transport, clock, random, changed, version === 'v2' ? KMS_V2_VERSIONS : undefined),
    cacheSize,
    random,
    observer,
    now: () => clock.monotonic(),
  };
  return version === 'v2' ? new SeedEnvelope(options) : new Envelope(options);
}
