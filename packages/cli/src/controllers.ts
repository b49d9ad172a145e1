/** `plat controllers`: runs the controllers in a process of their own, for one or more servers. */

import { controllerFlags } from '@plat-dev/compose/config/flags';
import { type FeatureGates, readFeatureGates } from '@plat-dev/kinds/feature-gates';
import type { Cancel } from '@plat-dev/lib/clock';
import { bool, choice, FlagError, type FlagValues, file, int, pairs, text } from '@plat-dev/lib/flags';
import { openLog } from '@plat-dev/lib/log';
import { systemRandom } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import { command, type IO } from './command.ts';
import { connect, connectFlags } from './connect.ts';
import { stopSignal } from './terminal/stop-signal.ts';

const table = {
  Controllers: controllerFlags,
  'Keys and accounts': {
    'root-ca-file': file('Certificates to publish in every namespace; those of the configuration when it is not given.'),
    'service-account-private-key-file': file('Key that signs the tokens in Secrets; without it none are signed.'),
    'use-service-account-credentials': bool(true, 'Let each controller act as its own service account.'),
    identity: text('', 'Identity of the server; detected from the server when not given.', { value: 'NAME|FILE' }),
    'feature-gates': pairs('Features to switch, as the server has them. See `plat server --help`.', { value: 'NAME=true|false,…' }),
  },
  Connecting: connectFlags,
  Observing: {
    v: int(0, 'Log level, 0 to 10.', { max: 10 }),
    'log-format': choice('text', ['text', 'json'], 'Format of log lines.'),
  },
};
type Options = FlagValues<typeof table>;

async function identityNamed(options: Options, session: Awaited<ReturnType<typeof connect>>, { clock }: IO): Promise<Identity> {
  if (options.identity === '')
    return (await import('@plat-dev/compose/background/remote-controllers')).identityOf(session.connection, clock);
  return identityOf(options.identity);
}

function featuresOf(options: Options): FeatureGates {
  try {
    return readFeatureGates(options.featureGates, { identity: options.identity });
  } catch (error) {
    throw new FlagError(`--feature-gates: ${(error as Error).message}`);
  }
}

async function runUntilSignal(options: Options, io: IO): Promise<number> {
  const features = featuresOf(options);
  for (const warning of features.warnings) io.err(`plat: ${warning}\n`);
  const { stopped, forget } = stopSignal(io);
  const log = openLog({ format: options.logFormat, verbosity: options.v });
  // Timers of the controllers do not keep a process alive; this one does.
  let stay: Cancel = () => {};
  const keepAlive = (): void => {
    stay = io.clock.after(60_000, keepAlive, true);
  };
  keepAlive();
  try {
    const session = await connect(options, undefined, io);
    const identity = await identityNamed(options, session, io);
    const { startRemoteControllers } = await import('@plat-dev/compose/background/remote-controllers');
    const settings = { ...options, feature: (name: string) => features.isOn(name) };
    const running = startRemoteControllers(session.connection, identity, settings, { clock: io.clock, random: systemRandom, log });
    io.out(`the controllers of ${session.connection.server} run here unless another process holds the lease\n`);
    await stopped;
    io.err('plat: stopping; interrupt again to stop at once\n');
    await running.stop();
    session.transport.close();
    return 0;
  } finally {
    stay();
    forget();
    log.flush();
  }
}

export const controllers = command({
  usage: '[flags]',
  summary: 'Run the controllers for servers that were started with --controllers=-*. Leader election lets one such process work at a time.',
  flags: table,
  more: `Examples:
  plat controllers --kubeconfig .plat/admin.conf
  plat controllers --controllers='*,-root-ca-cert-publisher'
  plat controllers --leader-elect --kubeconfig controllers.conf
`,
  run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}: controllers takes no arguments`);
    return runUntilSignal(options, io);
  },
});
