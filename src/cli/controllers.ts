/** `plat controllers`: the control loops in a process of their own, beside one server or several. */
import { controllerFlags } from '../flags.ts';
import { type Identity, identityOf } from '../identity.ts';
import { bool, choice, FlagError, type FlagValues, file, int, text } from '../lib/flags.ts';
import { openLog } from '../lib/log.ts';
import { command, type IO } from './command.ts';
import { connect, connectFlags } from './connect.ts';
import { stopSignal } from './stop-signal.ts';

const table = {
  Controllers: controllerFlags,
  'Keys and accounts': {
    'root-ca-file': file('Certificates to publish in every namespace; those of the configuration when it is not given.'),
    'service-account-private-key-file': file('Key that signs the tokens in Secrets; without it none are signed.'),
    'use-service-account-credentials': bool(true, 'Let each controller act as its own service account.'),
    identity: text('', 'Names the server goes by; asked of the server when it is not given.', { value: 'NAME|FILE' }),
  },
  Connecting: connectFlags,
  Observing: {
    v: int(0, 'How much is logged, 0 to 10.', { max: 10 }),
    'log-format': choice('text', ['text', 'json'], 'Form of log lines.'),
  },
};
type Options = FlagValues<typeof table>;

async function identityNamed(options: Options, session: Awaited<ReturnType<typeof connect>>): Promise<Identity> {
  if (options.identity === '') return (await import('../compose/remote-controllers.ts')).identityOf(session.connection);
  return identityOf(options.identity);
}

async function runUntilSignal(options: Options, io: IO): Promise<number> {
  const { stopped, forget } = stopSignal(io);
  const log = openLog({ format: options.logFormat, verbosity: options.v });
  // Timers of the controllers do not keep a process alive; this one does.
  const alive = setInterval(() => {}, 60_000);
  try {
    const session = await connect(options, undefined, io);
    const identity = await identityNamed(options, session);
    const { startRemoteControllers } = await import('../compose/remote-controllers.ts');
    const running = startRemoteControllers(session.connection, identity, options, log);
    io.out(`the controllers of ${session.connection.server} run here, as far as they are not led elsewhere\n`);
    await stopped;
    io.err('plat: stopping; once more to stop at once\n');
    await running.stop();
    session.transport.close();
    return 0;
  } finally {
    clearInterval(alive);
    forget();
    log.flush();
  }
}

export const controllers = command({
  usage: '[flags]',
  summary: 'Run the controllers beside servers that were started with --controllers=-*. Of several such processes one works at a time.',
  flags: table,
  run({ options, words }, io) {
    if (words.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(words[0])}: controllers takes flags only`);
    return runUntilSignal(options, io);
  },
});
