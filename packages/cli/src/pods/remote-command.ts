/** Runs a command in a container over a WebSocket: stdin, stdout, stderr, window size, exit code. */
import type { Readable } from 'node:stream';
import { queryOf } from '@plat-dev/client/dynamic';
import { openWebSocket } from '@plat-dev/client/websocket';
import { identities } from '@plat-dev/meta/identity';
import type { WebSocket } from 'ws';
import type { Work } from '../work.ts';
import { podPath } from './select-pods.ts';

export interface Remote {
  readonly what: 'exec' | 'attach';
  /** That of the command line, if undefined. */
  readonly namespace?: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Where input comes from and output goes to, if not the terminal. */
export interface RemoteStreams {
  readonly input?: Readable;
  out(bytes: Buffer): void;
  err(bytes: Buffer): void;
}

/** The connection broke before the command ended. */
export class ConnectionLost extends Error {}

/** The newer protocol can signal the end of stdin. */
const protocols = ['v5', 'v4'].flatMap((version) =>
  Object.values(identities).map(({ groupSuffix }) => `${version}.channel.${groupSuffix}`),
);
const Channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

interface Status {
  readonly status?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** Returns the exit code of the command. */
export async function runRemote(work: Work, remote: Remote, streams: RemoteStreams = terminalStreams(work)): Promise<number> {
  let socket: WebSocket | undefined;
  let isEnded = false;
  const undo: (() => void)[] = [];
  try {
    return await new Promise<number>((resolve, reject) => {
      const events = {
        message: (bytes: Buffer) => {
          const payload = bytes.subarray(1);
          if (bytes[0] === Channel.stdout && payload.length > 0) pass(() => streams.out(payload), reject);
          else if (bytes[0] === Channel.stderr && payload.length > 0) streams.err(payload);
          else if (bytes[0] === Channel.status && payload.length > 0) settle(payload, resolve, reject);
        },
        close: (error?: Error) => reject(new ConnectionLost(error?.message ?? 'the connection was lost before the command ended')),
      };
      openWebSocket(work.session.transport, { path: pathOf(work, remote), protocols, signal: work.signal }, events).then((opened) => {
        // The command may have exited with the first bytes.
        if (isEnded) return void opened.close(1000);
        socket = opened;
        undo.push(...begin(work, remote, opened, streams));
        if (work.signal.aborted) opened.close(1000);
      }, reject);
    });
  } finally {
    isEnded = true;
    for (const end of undo.reverse()) end();
    socket?.close(1000);
  }
}

const terminalStreams = ({ io: { terminal } }: Work): RemoteStreams => ({
  input: terminal.input,
  out: (bytes) => terminal.write(bytes),
  err: (bytes) => terminal.writeError(bytes),
});
/** What cannot take the output ends the command. */
function pass(call: () => void, reject: (error: unknown) => void): void {
  try {
    call();
  } catch (error) {
    reject(error);
  }
}

function pathOf(work: Work, { what, namespace, pod, container, command, stdin, tty }: Remote): string {
  const query = queryOf({ container, stdin: stdin || undefined, stdout: true, stderr: tty ? undefined : true, tty: tty || undefined });
  const args = command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  return `${podPath(namespace ?? work.namespace, pod)}/${what}?${query}${args}`;
}

/** The final status from the node: an exit code or an error. */
function settle(payload: Buffer, resolve: (code: number) => void, reject: (error: Error) => void): void {
  let status: Status;
  try {
    status = JSON.parse(payload.toString()) as Status;
  } catch {
    status = { message: payload.toString() };
  }
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (status.status === 'Success') resolve(0);
  else if (code !== undefined && /^\d+$/.test(code)) resolve(Number(code));
  else reject(new Error(status.message ?? 'the program failed'));
}

/** Returns the functions that clean up at the end. */
function begin(work: Work, { stdin, tty }: Remote, socket: WebSocket, { input }: RemoteStreams): (() => void)[] {
  const { terminal } = work.io;
  const undo: (() => void)[] = [];
  const stop = (): void => socket.close(1000);
  work.signal.addEventListener('abort', stop, { once: true });
  undo.push(() => work.signal.removeEventListener('abort', stop));
  if (tty) {
    if (terminal.interactive) undo.push(terminal.raw());
    const resize = (): void => {
      const size = terminal.size();
      if (size !== undefined) send(socket, Channel.resize, Buffer.from(JSON.stringify({ Width: size.width, Height: size.height })));
    };
    resize();
    undo.push(terminal.onResize(resize));
  }
  if (stdin && input !== undefined) undo.push(feed(work, socket, input));
  return undo;
}
const send = (socket: WebSocket, channel: number, payload: Buffer, onSent?: () => void): void =>
  socket.send(Buffer.concat([Buffer.from([channel]), payload]), onSent);

function feed(work: Work, socket: WebSocket, input: Readable): () => void {
  const { terminal } = work.io;
  let released = false;
  const data = (chunk: Buffer | string): void => {
    input.pause();
    send(socket, Channel.stdin, Buffer.from(chunk), () => {
      // A released terminal that is read again would keep the process waiting for the user.
      if (!released) input.resume();
    });
  };
  const end = (): void => {
    if (socket.protocol.startsWith('v5.')) send(socket, Channel.close, Buffer.from([Channel.stdin]));
    else if (input === terminal.input)
      work.io.err('plat: this protocol version cannot signal the end of stdin: interrupt when the command is done\n');
  };
  input.on('data', data);
  const failed = (): void => socket.close(1000);
  input.once('end', end);
  input.once('error', failed);
  return () => {
    released = true;
    input.off('data', data);
    input.off('end', end);
    input.off('error', failed);
    if (input === terminal.input) terminal.release();
  };
}
