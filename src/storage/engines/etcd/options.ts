/** The connection options of etcd, and every limit of the engine that uses it. */
import { readFileSync } from 'node:fs';
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
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
  /** Timeout of one call, including waiting for a connection. */
  readonly requestTimeoutMs?: number;
  /** How long superseded versions stay readable; 0: this server never compacts. */
  readonly historyRetentionMs?: number;
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

const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': LARGEST_ANSWER,
  'grpc.max_send_message_length': LARGEST_REQUEST,
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW,
  // Etcd accepts a ping each 5 s at most, and only during a call.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  // Retries are decided here, where it is known what may be repeated.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  // Each engine has connections of its own, which end with it.
  'grpc.use_local_subchannel_pool': 1,
};

export interface Address {
  /** As the operator wrote it, for messages. */
  readonly name: string;
  readonly target: string;
  readonly credentials: ChannelCredentials;
  readonly channelOptions: ChannelOptions;
}

/** Throws TypeError for invalid endpoints, and errors of reading the files. */
export function addressesOf(options: EtcdOptions): Address[] {
  if (options.endpoints.length === 0) throw new TypeError('no endpoint of etcd is given');
  const { caFile, certFile, keyFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new TypeError('a client certificate for etcd needs its key, and the key its certificate');
  const read = (file: string | undefined) => (file === undefined ? null : readFileSync(file));
  const secured = caFile !== undefined || certFile !== undefined;
  let secure: ChannelCredentials | undefined;
  return options.endpoints.map((name) => {
    const [, scheme = secured ? 'https' : 'http', authority] = /^(?:(https?|unix):\/\/)?([^?#]+?)\/?$/.exec(name) ?? [];
    if (authority === undefined || (scheme !== 'unix' && authority.includes('/'))) {
      throw new TypeError(`the endpoint ${JSON.stringify(name)} of etcd is not of the form https://host:port`);
    }
    if (scheme === 'http' && secured) throw new TypeError(`the endpoint ${name} of etcd is not https, although certificates are given`);
    if (scheme === 'https') secure ??= credentials.createSsl(read(caFile), read(keyFile), read(certFile));
    return {
      name,
      target: scheme === 'unix' ? `unix:${authority}` : `dns:${authority}`,
      credentials: scheme === 'https' ? (secure as ChannelCredentials) : credentials.createInsecure(),
      channelOptions: CHANNEL_OPTIONS,
    };
  });
}
