/** `plat console`: opens the console in a browser, for the server that the client configuration names. */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { newCode } from '@plat-dev/console-gateway/code';
import { bool, FlagError, port } from '@plat-dev/lib/flags';
import { silentLog } from '@plat-dev/lib/log';
import { systemRandom } from '@plat-dev/lib/random';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { type Work, withServer } from '../work.ts';
import { openBrowser } from './browser.ts';
import { relayBackend } from './relay-backend.ts';

const table = {
  Opening: {
    'no-browser': bool(false, 'Do not open a browser; print the link only.'),
    port: port(0, 'Port of this machine to serve the console on; 0 takes a free one.', { short: 'p', defaultText: '0' }),
  },
  Connecting: connectFlags,
};

export const consoleCommand = command({
  usage: '[flags]',
  summary: 'Open the console in a browser, for any server.',
  flags: table,
  more: `
Serves the console on a port of this machine, and sends its requests to the server with your credentials: that of plat or any other that has the stock API. The link works once, within five minutes, and in browsers of this machine only.

Examples:
  plat console
  plat console --context staging
  plat console --no-browser --port 9000

Runs until it is interrupted. Exit codes:
  0   interrupted
  1   cannot listen, or the server cannot be reached
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`console takes no arguments, but got ${JSON.stringify(args[0])}`);
    return withServer(options, io, (work) => serve(work, options.port, options.noBrowser, io), { untilInterrupted: true });
  },
});

async function serve(work: Work, givenPort: number, noBrowser: boolean, io: IO): Promise<number> {
  const { stopped, forget } = stopSignal(io);
  const { backend, close } = await relayBackend(work);
  const code = newCode(systemRandom, io.clock);
  const { Gateway } = await import('@plat-dev/console-gateway');
  const gateway = new Gateway({ backend, code, clock: io.clock, random: systemRandom, log: silentLog });
  const server = createServer((request, response) => gateway.handle(request, response));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const { response, upgrade } = upgradeOf(request, socket, head);
    gateway.handle(request, response, upgrade);
  });
  try {
    const link = `http://127.0.0.1:${await listen(server, givenPort)}/console/?code=${code.text}`;
    io.out(`Console of ${work.session.connection.server} (the link works once, within 5 minutes; interrupt to end):\n\n  ${link}\n\n`);
    if (!noBrowser && io.terminal.size() !== undefined) openBrowser(link, io);
    await stopped;
    return 0;
  } finally {
    forget();
    gateway.close();
    server.close();
    server.closeAllConnections();
    close();
  }
}

/** A response for a request that may take its connection over. */
function upgradeOf(request: IncomingMessage, socket: Socket, head: Buffer) {
  socket.on('error', () => {});
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  const upgrade = {
    protocol: request.headers.upgrade ?? '',
    head,
    take(): Socket | undefined {
      if (socket.destroyed) return undefined;
      response.detachSocket(socket);
      socket.once('close', () => response.emit('close'));
      return socket;
    },
  };
  return { response, upgrade };
}

function listen(server: Server, givenPort: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use: choose another with --port' : error.message;
      reject(new Error(`cannot listen on 127.0.0.1:${givenPort}: ${why}`));
    });
    server.listen(givenPort, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
