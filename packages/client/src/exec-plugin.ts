/** Credential plug-ins: programs that print a credential for a server. */

import { spawn } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { jsonText } from '@plat-dev/lib/json-text';
import { didYouMean } from '@plat-dev/lib/suggest';
import { timeMillis } from '@plat-dev/lib/time';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { ConfigError, type ExecEntry } from './config.ts';
import type { ServerEndpoint } from './connection-settings.ts';
import { type Credential, type CredentialEnvironment, type CredentialSource, keptSource, type RenewedCredential } from './credentials.ts';

export interface PluginUse {
  readonly exec: ExecEntry;
  /** Name of the user in the configuration, for messages. */
  readonly user: string;
  readonly reached: ServerEndpoint;
  /** Extensions of the cluster's entry: one of them may be for the plug-in. */
  readonly extensions: readonly { readonly name?: string; readonly extension?: unknown }[];
}

/** Timeouts of a plug-in without a terminal, and of one that may prompt the user. */
const ALONE_MS = 60_000;
const WITH_PERSON_MS = 10 * 60_000;
/** Maximum size of a credential on standard output. */
const OUTPUT_LIMIT = 1 << 20;

const modes = ['Never', 'IfAvailable', 'Always'];
const versions = ['v1', 'v1beta1'];

/** The plug-in as a source of credentials. Throws ConfigError for an invalid entry. */
export function execSource(use: PluginUse, world: CredentialEnvironment): CredentialSource {
  const plugin = new Plugin(use, world);
  return keptSource(() => plugin.make(), world.clock);
}

class Plugin {
  private readonly use: PluginUse;
  private readonly world: CredentialEnvironment;
  private readonly command: string;
  private readonly apiVersion: string;
  private readonly identity: Identity;
  private readonly mode: string;

  constructor(use: PluginUse, world: CredentialEnvironment) {
    this.use = use;
    this.world = world;
    const { command, apiVersion, interactiveMode } = use.exec;
    if (!command) throw this.wrong('names no command');
    this.command = command;
    if (!apiVersion) throw this.wrong(`names no apiVersion: it must be one of ${apiVersions.map(([name]) => name).join(', ')}`);
    const apiVersionEntry = apiVersions.find(([name]) => name === apiVersion);
    if (apiVersionEntry === undefined) {
      const suggestion = didYouMean(
        apiVersion,
        apiVersions.map(([name]) => name),
      );
      throw this.wrong(
        `has the apiVersion ${JSON.stringify(apiVersion)}, which is not known${suggestion}; change it, or update the plug-in`,
      );
    }
    [this.apiVersion, this.identity] = apiVersionEntry;
    if (!interactiveMode && apiVersion.endsWith('/v1')) {
      throw this.wrong(
        `names no interactiveMode: it must be one of ${modes.join(', ')}`,
        `error: interactiveMode must be specified for ${use.user} to use exec authentication plugin`,
      );
    }
    this.mode = interactiveMode || 'IfAvailable';
    if (!modes.includes(this.mode)) {
      throw this.wrong(`has the interactiveMode ${JSON.stringify(this.mode)}, which is not one of ${modes.join(', ')}`);
    }
    for (const variable of use.exec.env ?? []) if (!variable.name) throw this.wrong('has an environment variable without a name');
  }

  async make(): Promise<RenewedCredential> {
    const interactive = this.mode !== 'Never' && this.world.interactive;
    if (this.mode === 'Always' && !interactive) {
      const why = this.world.stdinTaken
        ? 'must ask at the terminal, but standard input has the objects: read them from a file'
        : 'must be run from a terminal: standard input is none. Log in there first';
      const unavailable = 'getting credentials: exec plugin cannot support interactive mode: standard input is';
      const stock = this.world.stdinTaken ? 'unavailable: used by stdin resource manifest reader' : 'not a terminal';
      throw this.wrong(`${why}, or use --token`, `Unable to connect to the server: ${unavailable} ${stock}`);
    }
    return this.read(await this.run(interactive));
  }

  /** The ExecCredential for the plug-in, in a variable of its environment. */
  private input(interactive: boolean): string {
    const { server, ca, serverName, insecure, proxy } = this.use.reached;
    const groupPrefix = `${groupName(this.identity, 'client.authentication')}/exec`;
    const config = this.use.extensions.find(({ name }) => name === groupPrefix)?.extension;
    const cluster = {
      server,
      ...(serverName !== undefined && { 'tls-server-name': serverName }),
      ...(insecure && { 'insecure-skip-tls-verify': true }),
      ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...(proxy !== undefined && { 'proxy-url': proxy }),
      ...(config !== undefined && { config }),
    };
    const spec = { ...(this.use.exec.provideClusterInfo && { cluster }), interactive };
    return jsonText({ kind: 'ExecCredential', apiVersion: this.apiVersion, spec });
  }

  private run(interactive: boolean): Promise<string> {
    const { exec } = this.use;
    const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name as string, value ?? '']));
    const child = spawn(this.command, [...(exec.args ?? [])], {
      env: { ...this.world.env, ...own, [this.identity.execInfoVariable]: this.input(interactive) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    });
    const limit = interactive ? WITH_PERSON_MS : ALONE_MS;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const fail = (error: Error): void => {
        cancelTimeout();
        child.kill('SIGKILL');
        // Child processes of the plug-in may keep these open.
        child.stdout?.destroy();
        child.stderr?.destroy();
        reject(error);
      };
      const cancelTimeout = this.world.clock.after(limit, () => fail(this.failed(`gave no credential within ${limit / 1000} seconds`)));
      child.on('error', (error: NodeJS.ErrnoException) => fail(this.notRun(error)));
      child.stderr?.on('data', (chunk: Buffer) => this.world.show(chunk.toString()));
      child.stdout?.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > OUTPUT_LIMIT) fail(this.failed('printed more than a credential'));
        else chunks.push(chunk);
      });
      child.on('close', (code, signal) => {
        cancelTimeout();
        if (code === 0) resolve(Buffer.concat(chunks).toString());
        else reject(this.failed(code === null ? `was ended by ${signal}` : `failed with exit code ${code}`));
      });
    });
  }

  private async read(output: string): Promise<RenewedCredential> {
    let value: unknown;
    try {
      value = output.trimStart().startsWith('{') ? JSON.parse(output) : (await import('@plat-dev/schema/yaml')).parseYaml(output);
    } catch {
      value = undefined;
    }
    if (typeof value !== 'object' || value === null) throw this.failed('printed something that is no ExecCredential: json parse error');
    const { kind, apiVersion, status } = value as { kind?: unknown; apiVersion?: unknown; status?: Record<string, unknown> };
    // A plug-in may leave out the kind, not the version.
    if (kind !== undefined && kind !== '' && kind !== 'ExecCredential')
      throw this.failed(`printed something that is no ExecCredential (kind ${jsonText(kind ?? '')})`);
    if (apiVersion !== this.apiVersion) {
      throw this.failed(`answered in ${jsonText(apiVersion ?? '')}, while the configuration asks for ${this.apiVersion}: make them agree`);
    }
    if (typeof status !== 'object' || status === null) throw this.failed('printed an ExecCredential without status');
    return { credential: this.credential(status), until: this.expiry(status.expirationTimestamp) };
  }
  private credential({ token, clientCertificateData, clientKeyData }: Record<string, unknown>): Credential {
    if (Boolean(clientCertificateData) !== Boolean(clientKeyData)) {
      throw this.failed(`gave a client ${clientKeyData ? 'key without its certificate' : 'certificate without its key'}`);
    }
    if (!token && !clientCertificateData) throw this.failed('gave neither a token nor a client certificate');
    const pair = clientCertificateData
      ? { certificate: this.checked(String(clientCertificateData), String(clientKeyData)), key: String(clientKeyData) }
      : {};
    return { ...(token ? { authorization: `Bearer ${String(token)}` } : {}), ...pair };
  }
  private checked(certificate: string, key: string): string {
    let fits: boolean;
    try {
      fits = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    } catch (error) {
      throw this.failed(`gave a client certificate or key that cannot be read: ${(error as Error).message}`);
    }
    if (!fits) throw this.failed('gave a client certificate and the key of another');
    return certificate;
  }
  private expiry(value: unknown): number | undefined {
    if (value === undefined || value === null || value === '') return undefined;
    try {
      return timeMillis(String(value));
    } catch {
      throw this.failed(`gave an expirationTimestamp that is no time: ${jsonText(value)}`);
    }
  }

  private wrong(what: string, stockText?: string): ConfigError {
    return new ConfigError(`the credential plug-in of the user ${JSON.stringify(this.use.user)} ${what}`, stockText);
  }
  private failed(what: string): Error {
    return new Error(`the credential plug-in ${this.command} of the user ${JSON.stringify(this.use.user)} ${what}`);
  }
  private notRun(error: NodeJS.ErrnoException): Error {
    const hint = this.use.exec.installHint?.trim();
    const next = hint ? `\n\n${hint}` : ': install it, or put its directory into PATH';
    if (error.code === 'ENOENT') return this.failed(`is not there${next}`);
    if (error.code === 'EACCES') return this.failed('may not be run: make it executable');
    return this.failed(`cannot be run: ${error.message}`);
  }
}

/** Versions of the exec API by apiVersion, each with its field names. */
const apiVersions: readonly (readonly [string, Identity])[] = Object.values(identities).flatMap((identity) =>
  versions.map((version) => [joinApiVersion(groupName(identity, 'client.authentication'), version), identity] as const),
);
