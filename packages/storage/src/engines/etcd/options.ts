/** The connection options of etcd, and every limit of the engine that uses it. */
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { ChannelOptions } from '../../grpc/channel.ts';
import type { HistoryPolicy } from '../../history.ts';
import type { StoreOwner } from '../../store-mark.ts';

export interface EtcdOptions {
  /** `https://host:port`, `http://host:port` or `host:port`; tried in this order, and one after the other when one fails. */
  readonly endpoints: readonly string[];
  /** Prefix of every key; servers with the same prefix share one store. */
  readonly prefix?: string;
  /** PEM files: the CA of etcd, and the client certificate and key. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** A user of etcd, and the file with the password. Both or none. */
  readonly username?: string;
  readonly passwordFile?: string;
  /** Timeout of one call, including waiting for a connection. */
  readonly requestTimeoutMs?: number;
  /** Maximum size of a response, if not `LARGEST_ANSWER`. */
  readonly mostAnswerBytes?: number;
  /** How long superseded versions stay readable; 0: this server never compacts. */
  readonly historyRetentionMs?: number;
  /** Which superseded versions outlast compaction; undefined: none. */
  readonly history?: HistoryPolicy;
  /** How often history that is no longer kept is deleted, if not `SWEEP_INTERVAL_MS`. */
  readonly historySweepMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** The required identity of the store; undefined for tools, which open any. */
  readonly owner?: StoreOwner | undefined;
  /** Called with lost connections and similar problems, for the log. */
  readonly notice?: (message: string) => void;
}

export const DEFAULT_PREFIX = '/registry/plat';
export const DEFAULT_REQUEST_TIMEOUT_MS = 10_000;

/** Maximum size of a response. A page of a range that is larger is requested again in smaller pages. */
export const LARGEST_ANSWER = 64 * 1024 * 1024;
/** Maximum size of a request; etcd itself accepts 1.5 MiB by default. */
const LARGEST_REQUEST = 16 * 1024 * 1024;
/** Maximum unread bytes of one stream. */
const FLOW_CONTROL_WINDOW = 4 * 1024 * 1024;

/** Headers of every call: a member without a leader fails at once, and ends streams, instead of letting them hang. */
export const METADATA: Readonly<Record<string, string>> = { hasleader: 'true' };

export const CHANNEL_OPTIONS = {
  mostRequestBytes: LARGEST_REQUEST,
  mostAnswerBytes: LARGEST_ANSWER,
  windowBytes: FLOW_CONTROL_WINDOW,
  // Etcd accepts a ping each 5 s at most, and only during a call.
  keepAlive: { everyMs: 10_000, timeoutMs: 5_000 },
  reconnect: { shortestMs: 100, longestMs: 3_000 },
} satisfies Partial<ChannelOptions>;

export interface Address {
  /** As the operator wrote it, for messages. */
  readonly name: string;
  /** As in storage/grpc/target.ts. */
  readonly target: string;
  /** TLS options; undefined: no TLS. */
  readonly secureContext: SecureContext | undefined;
}

/** Throws TypeError for invalid endpoints, and errors of reading the files. */
export function addressesOf(options: EtcdOptions): Address[] {
  if (options.endpoints.length === 0) throw new TypeError('no endpoint of etcd is given');
  const { caFile, certFile, keyFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new TypeError('a client certificate for etcd needs its key, and the key its certificate');
  const secured = caFile !== undefined || certFile !== undefined;
  let secure: SecureContext | undefined;
  return options.endpoints.map((name) => {
    const [, scheme = secured ? 'https' : 'http', authority] = /^(?:(https?|unix):\/\/)?([^?#]+?)\/?$/.exec(name) ?? [];
    if (authority === undefined || (scheme !== 'unix' && authority.includes('/'))) {
      throw new TypeError(`the endpoint ${JSON.stringify(name)} of etcd is not of the form https://host:port`);
    }
    if (scheme === 'http' && secured) throw new TypeError(`the endpoint ${name} of etcd is not https, although certificates are given`);
    if (scheme === 'https') secure ??= secureContextOf(options);
    return {
      name,
      target: scheme === 'unix' ? `unix:${authority}` : `dns:${authority}`,
      secureContext: scheme === 'https' ? secure : undefined,
    };
  });
}

function secureContextOf({ caFile, certFile, keyFile }: EtcdOptions): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(caFile !== undefined && { ca: readFileSync(caFile) }),
    ...(certFile !== undefined && { cert: readFileSync(certFile) }),
    ...(keyFile !== undefined && { key: readFileSync(keyFile) }),
  });
}
