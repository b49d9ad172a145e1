/** Global flags: every command that connects to a server has them. `plat options` lists them. */
import { bool, choice, duration, type FlagDetails, FlagError, type FlagValues, file, flag, int, repeated } from '@plat-dev/lib/flags';

const global = { global: true } as const;
const name = (help: string, value: string, details: FlagDetails = {}) =>
  flag<string | undefined>(undefined, help, value, (text) => text, { ...global, ...details });
const path = (help: string) => file(help, global);

/** Profiles that can be recorded of a command. */
const profiles = ['none', 'cpu', 'heap'] as const;

export const connectFlags = {
  kubeconfig: path('Client configuration; else PLATCONFIG, KUBECONFIG, .plat/admin.conf, ~/.plat/config, or the server started last.'),
  context: name('Context of the configuration to use.', 'NAME'),
  cluster: name('Cluster of the configuration to use.', 'NAME'),
  user: name('User of the configuration to use.', 'NAME'),
  namespace: name('Namespace of the objects.', 'NAME', { short: 'n', defaultText: 'that of the context' }),
  server: name('Address of the server.', 'URL', { short: 's' }),
  token: name('Bearer token.', 'TOKEN'),
  username: name('Name for basic authentication.', 'NAME'),
  password: name('Password for basic authentication.', 'PASSWORD'),
  'client-certificate': path('Certificate to show to the server.'),
  'client-key': path('Key of that certificate.'),
  as: name('User to act as.', 'USER'),
  'as-group': repeated<readonly string[]>([], 'Group to act with; may be repeated.', 'GROUP', (values) => values, global),
  'as-uid': name('UID to act with.', 'UID'),
  'certificate-authority': path('CA that signed the certificate of the server.'),
  'tls-server-name': name('Name that the certificate of the server must have.', 'NAME'),
  'insecure-skip-tls-verify': bool(false, 'Do not verify the server certificate. This makes man-in-the-middle attacks possible.', global),
  'request-timeout': flag(0, 'Timeout of requests, such as 30s; 0 is none.', 'DURATION', readTimeout, { ...global, defaultText: '0' }),
  'cache-dir': path('Directory for what can be fetched again, such as discovery; default is plat in the cache directory of the user.'),
  'match-server-version': bool(false, 'Fail unless the server has the API version of this program.', global),
  'warnings-as-errors': bool(false, 'Exit with an error if the server sent warnings.', global),
  v: int(0, 'Show requests: 6 their addresses, 7 headers, 8 and 9 bodies. Credentials and secrets are not shown.', { ...global, max: 10 }),
  profile: choice('none', profiles, 'Record a profile of this program: cpu or heap.', global),
  'profile-output': flag('profile.pprof', 'File for the profile.', 'FILE', (text) => text, global),
};
export type ConnectOptions = FlagValues<{ connecting: typeof connectFlags }>;

/** `30s`; a plain number counts seconds. */
function readTimeout(text: string): number {
  try {
    return duration(/^\d+$/.test(text) ? `${text}s` : text, '').default;
  } catch (error) {
    throw new FlagError(
      (error as Error).message,
      'error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)',
    );
  }
}

/** Flags of the stock client about its log files. They are deprecated there, and there are no such files here. */
export const logFileFlags: ReadonlyMap<string, boolean> = new Map([
  ['add-dir-header', true],
  ['alsologtostderr', true],
  ['log-backtrace-at', false],
  ['log-dir', false],
  ['log-file', false],
  ['log-file-max-size', false],
  ['log-flush-frequency', false],
  ['logtostderr', true],
  ['one-output', true],
  ['skip-headers', true],
  ['skip-log-headers', true],
  ['stderrthreshold', false],
  ['vmodule', false],
]);
