/**
 * Encryption of the store: the file of `--encryption-provider-config` read at the start and, when it changes, again.
 *
 *   at the start   a file that cannot be used ends the start, with what is wrong
 *   later          one that cannot be used leaves the one before in use, with one line in the log
 *
 * Keys are held in memory alone: what is logged and counted names files, providers and outcomes.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { builtinKinds } from '@plat-dev/kinds';
import { alphaKinds } from '@plat-dev/kinds/alpha-kinds';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { fileErrorText } from '@plat-dev/lib/files/file-errors';
import type { Log } from '@plat-dev/lib/log';
import type { Metrics } from '@plat-dev/lib/metrics';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import { encryptionStateEndpoint } from '@plat-dev/server/endpoints/encryption-state';
import type { Endpoint } from '@plat-dev/server/endpoints/endpoint';
import { type HealthCheck, healthPages } from '@plat-dev/server/endpoints/health';
import type { Cache } from '@plat-dev/storage/cache';
import { type EncryptionRule, LARGEST_FILE, readEncryptionConfig } from '@plat-dev/storage/encryption/config';
import { EncryptedEngine } from '@plat-dev/storage/encryption/encrypted';
import { type EncryptionMetrics, encryptionMetrics } from '@plat-dev/storage/encryption/encryption-metrics';
import { EncryptionRules, type RuleDeps } from '@plat-dev/storage/encryption/encryption-rules';
import type { KmsTransport } from '@plat-dev/storage/encryption/kms';
import type { Engine } from '@plat-dev/storage/engine';

/** How often the file is looked at. */
export const LOOK_MS = 1000;
/** How long to wait before objects are read again that a plug-in could not decrypt. */
export const RETRY_MS = 5000;

export interface EncryptionDeps {
  readonly file: string;
  /** Whether a changed file is used without a restart. */
  readonly reload: boolean;
  readonly identity: Identity;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** In place of sockets, for tests. */
  readonly connect?: RuleDeps['connect'];
}

export interface Encryption {
  readonly engine: EncryptedEngine;
  /** `kms-provider-0` and so on, as a stock server names them. */
  readonly checks: readonly HealthCheck[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** From now on the file is followed, and the cache is kept as the keys allow. */
  follow(cache: Pick<Cache, 'reread' | 'unreadable'>): void;
  /** Looks at the file now. */
  look(): Promise<void>;
  close(): void;
}

/** Throws an Error that names the flag, the file and every fault in it. */
export async function composeEncryption(deps: EncryptionDeps): Promise<Encryption> {
  const { file, identity, engine, log, clock } = deps;
  const observer = encryptionMetrics(deps.metrics);
  const connect = deps.connect ?? socketConnector(clock, deps.random);
  const pluginChanged = (name: string, socket: string, error: string | undefined): void => {
    if (error === undefined) log.info('KMS plug-in works again', { provider: name, socket });
    else log.error('KMS plug-in failed, retrying', { provider: name, socket, error });
  };
  const ruleDeps: RuleDeps = { identity, clock, random: deps.random, observer, connect, pluginChanged };
  let first: Loaded;
  try {
    first = await loadEncryptionConfig(file, identity);
  } catch (error) {
    throw new Error(`--encryption-provider-config ${file}: ${(error as Error).message}`);
  }
  await warnOfOthers(file, log);
  const retries = new Retries(deps, () => encrypted.rules);
  const encrypted = new EncryptedEngine(engine, new EncryptionRules(first.rules, ruleDeps), (collection) => retries.want(collection));
  const follower = new Follower(deps, ruleDeps, observer, encrypted, first, () => retries.probe());
  return {
    engine: encrypted,
    checks: encrypted.rules.plugins.map((_, i) => kmsCheck(encrypted, i)),
    endpoints: new Map([['/store/encryption', encryptionStateEndpoint(encrypted, identity)]]),
    follow(cache) {
      retries.start(cache);
      follower.start(cache);
    },
    look: () => follower.look(),
    close() {
      retries.stop();
      follower.stop();
      encrypted.rules.close();
    },
  };
}

/** A configuration may come to name a plug-in later; what speaks its protocol is loaded with the first. */
export function socketConnector(clock: Clock, random: Random): RuleDeps['connect'] {
  let loading: Promise<typeof import('@plat-dev/storage/encryption/kms-transport')> | undefined;
  return (socket, timeoutMs, version) => {
    loading ??= import('@plat-dev/storage/encryption/kms-transport');
    const transport = loading.then(({ kmsTransport }) => kmsTransport(socket, timeoutMs, clock, random, version));
    const when = <T>(call: (kmsTransport: KmsTransport) => Promise<T>): Promise<T> => transport.then(call);
    return {
      version: () => when((kmsTransport) => kmsTransport.version()),
      encrypt: (plain) => when((kmsTransport) => kmsTransport.encrypt(plain)),
      decrypt: (cipher) => when((kmsTransport) => kmsTransport.decrypt(cipher)),
      keyId: () => when(async (kmsTransport) => (await kmsTransport.keyId?.()) ?? ''),
      close: () => void transport.then((kmsTransport) => kmsTransport.close()),
    };
  };
}

interface Loaded {
  readonly rules: EncryptionRule[];
  /** Of the content. */
  readonly digest: string;
}

/** Throws with every fault of the file. */
export async function loadEncryptionConfig(file: string, identity: Identity): Promise<Loaded> {
  const text = await readWhole(file);
  return { rules: readEncryptionConfig(text, identity, [...builtinKinds(identity), ...alphaKinds]), digest: digestOf(text) };
}
async function readWhole(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > LARGEST_FILE) throw new Error(`the file has more than ${LARGEST_FILE} bytes`);
    return await readFile(file);
  } catch (error) {
    throw new Error(fileErrorText(error, file) ?? (error as Error).message, { cause: error });
  }
}
const digestOf = (text: Buffer): string => createHash('sha256').update(text).digest('base64');

/** A user that can read the file can decrypt everything that it protects. */
async function warnOfOthers(file: string, log: Log): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  log.warn('encryption configuration can be read or changed by other users, set its mode to 600', {
    file,
    mode: (mode & 0o777).toString(8),
  });
}

/** A check outlives the configuration that it began with; one whose plug-in is gone passes. The last also answers for plug-ins that came later. */
function kmsCheck(encrypted: EncryptedEngine, index: number): HealthCheck {
  const last = index === encrypted.rules.plugins.length - 1;
  return {
    name: `kms-provider-${index}`,
    in: healthPages,
    check: async () => {
      const plugins = encrypted.rules.plugins.slice(index, last ? undefined : index + 1);
      await Promise.all(plugins.map(({ kms }) => kms.check()));
    },
  };
}

/** Takes changes of the file into use. */
class Follower {
  readonly #deps: EncryptionDeps;
  readonly #ruleDeps: RuleDeps;
  readonly #observer: EncryptionMetrics;
  readonly #encrypted: EncryptedEngine;
  /** Content that was last looked at, usable or not: a fault is reported once. */
  #lastDigest: string;
  #state = '';
  #looking: Promise<void> | undefined;
  #cache: Pick<Cache, 'reread' | 'unreadable'> | undefined;
  #stop: Cancel | undefined;

  readonly #reloaded: () => void;

  constructor(
    deps: EncryptionDeps,
    ruleDeps: RuleDeps,
    observer: EncryptionMetrics,
    encrypted: EncryptedEngine,
    first: Loaded,
    reloaded: () => void,
  ) {
    this.#reloaded = reloaded;
    this.#deps = deps;
    this.#ruleDeps = ruleDeps;
    this.#observer = observer;
    this.#encrypted = encrypted;
    this.#lastDigest = first.digest;
  }

  start(cache: Pick<Cache, 'reread' | 'unreadable'>): void {
    this.#cache = cache;
    if (this.#deps.reload) this.#stop = this.#deps.clock.every(LOOK_MS, () => void this.look());
  }
  stop(): void {
    this.#stop?.();
    this.#cache = undefined;
  }

  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { file, identity } = this.#deps;
    try {
      const { mtimeNs, ctimeNs, ino, size } = await stat(file, { bigint: true });
      const state = [mtimeNs, ctimeNs, ino, size].join(' ');
      if (state === this.#state) return;
      this.#state = state;
      const digest = digestOf(await readFile(file));
      if (digest === this.#lastDigest) return;
      this.#lastDigest = digest;
      await this.#use((await loadEncryptionConfig(file, identity)).rules);
    } catch (error) {
      const problem = (error as NodeJS.ErrnoException).code ?? this.#lastDigest;
      if (this.#failed === problem) return;
      this.#failed = problem;
      this.#observer.reloaded(false, this.#deps.clock.now() / 1000);
      this.#deps.log.error('cannot use the new encryption configuration, keeping the old one', {
        file,
        error: (error as Error).message,
      });
    }
  }
  /** What was reported last. */
  #failed: string | undefined;

  async #use(config: readonly EncryptionRule[]): Promise<void> {
    const oldRules = this.#encrypted.rules;
    const rules = new EncryptionRules(config, this.#ruleDeps, oldRules);
    this.#encrypted.use(rules);
    this.#reloaded();
    this.#failed = undefined;
    this.#observer.reloaded(true, this.#deps.clock.now() / 1000);
    this.#deps.log.info('encryption configuration reloaded', { file: this.#deps.file, resources: rules.collections.length });
    await warnOfOthers(this.#deps.file, this.#deps.log);
    // Objects whose key went are to be unreadable now rather than after the next start; those whose key came, readable.
    const collections = new Set([...oldRules.collections, ...rules.collections]);
    const aside = [...(this.#cache?.unreadable().keys() ?? [])].filter((collection) => collections.has(collection));
    for (const collection of new Set([...rules.lostAgainst(oldRules), ...aside])) await this.#cache?.reread(collection);
    oldRules.close(rules);
  }
}

/** Tries plug-ins until all work, from the start on, and then reads objects again that they could not decrypt. */
class Retries {
  readonly #deps: EncryptionDeps;
  readonly #rules: () => EncryptionRules;
  readonly #pendingCollections = new Set<string>();
  #cache: Pick<Cache, 'reread'> | undefined;
  #cancel: Cancel | undefined;
  /** Whether plug-ins are to be tried though no object waits for them. */
  #probing = false;

  constructor(deps: EncryptionDeps, rules: () => EncryptionRules) {
    this.#deps = deps;
    this.#rules = rules;
  }
  start(cache: Pick<Cache, 'reread'>): void {
    this.#cache = cache;
    this.probe();
    this.#schedule();
  }
  stop(): void {
    this.#cancel?.();
    this.#cache = undefined;
  }
  want(collection: string): void {
    this.#pendingCollections.add(collection);
    this.#schedule();
  }
  /** A plug-in that is away is found soon rather than by the first request that needs it. */
  probe(): void {
    this.#probing = this.#rules().plugins.length > 0;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#cache === undefined) return;
    if (this.#pendingCollections.size > 0 || this.#probing) this.#cancel = this.#deps.clock.after(RETRY_MS, () => void this.#retry());
  }
  async #retry(): Promise<void> {
    try {
      const { plugins } = this.#rules();
      if (this.#probing) {
        await Promise.all(plugins.map(({ kms }) => kms.probe()));
        this.#probing = false;
      }
      if (this.#pendingCollections.size === 0) return;
      await Promise.all(plugins.map(({ kms }) => kms.check()));
      const collections = [...this.#pendingCollections];
      this.#pendingCollections.clear();
      for (const collection of collections) await this.#cache?.reread(collection);
    } catch {
      // The log and the health check have the reason; it is retried.
    } finally {
      this.#cancel = undefined;
      this.#schedule();
    }
  }
}
