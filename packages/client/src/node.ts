/** The transport of Node for a client: servers and users of configuration files, certificates, plug-ins for credentials, proxies. */
import { systemClock } from '@plat-dev/lib/clock';
import { loadConfig } from './config.ts';
import { type ConnectionChoice, connectionOf } from './connection.ts';
import type { Http } from './http.ts';
import { httpOver } from './http-over.ts';
import { Transport } from './transport.ts';

export interface ConfigFileOptions extends ConnectionChoice {
  /** The environment, for proxies and for plug-ins that give credentials: mostly `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly userAgent?: string;
  /** Receives what plug-ins write for the user. */
  readonly show?: (text: string) => void;
}

/** Each watch takes a connection while it is open. */
const MOST_CONNECTIONS = 256;

/** The server and user of the current context, or of what is chosen. Throws ConfigError. */
export async function fromConfigFile(
  paths: string | readonly string[],
  options: ConfigFileOptions = {},
): Promise<Http & { readonly close: () => void }> {
  const { env = {}, userAgent = 'plat-client', show = () => {}, ...choice } = options;
  const config = await loadConfig(typeof paths === 'string' ? [paths] : paths);
  const connection = await connectionOf(config, choice, { env, clock: systemClock, interactive: false, show });
  const transport = new Transport(connection, userAgent, systemClock, { maxSockets: MOST_CONNECTIONS });
  return { ...httpOver(transport), close: () => transport.close() };
}
