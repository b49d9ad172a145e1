/**
 * Locks a data directory against a second server. Each server that wants the directory listens on a socket of its own in it,
 * so that the lock ends with the process in any case, and works across containers that share the directory:
 *
 *   1. listen on `store.locking-TOKEN`, then rename it to `store.lock-TOKEN`: a server that sees that name can connect to it
 *   2. look for the sockets of others; those without a listener were left by a crash, and are removed
 *   3. no other: the directory is locked. Another that holds it: give up. Another that starts, too: the lower token waits
 *      until the others have given up
 *
 * Of two servers the one whose socket has its name later sees the other in step 2, so they cannot both get to the end. No
 * name is used twice, so that what is removed in step 2 is never a socket that has a listener by then.
 *
 * Windows has named pipes in place of sockets in directories. A pipe has one listener at most, and is gone with it: one pipe,
 * named after the directory, is the lock.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { type Random, systemRandom } from '@plat-dev/lib/random';

/** How the names of locks begin. Earlier releases used it alone. */
export const LOCK = 'store.lock';
const STARTING = 'store.locking-';
/** A socket's path must be shorter than about 100 bytes; by the directory's descriptor it always is. */
const LONGEST_PATH = 100;
/** Timeout for the holder of the lock to identify itself. */
const ANSWER_MS = 2_000;
/** How often, and how many times, a server looks whether others that start have given up. */
const LOOK_MS = 10;
const MOST_LOOKS = 1_000;
/** The socket of a server that starts may be removed as one that a crash left; then it makes another. */
const MOST_SOCKETS = 10;

export interface DirectoryLock {
  release(): Promise<void>;
}
interface World {
  readonly clock: Clock;
  readonly random: Random;
  /** That of the process. */
  readonly platform?: NodeJS.Platform;
}
/** A server that runs, as it describes itself. */
interface Holder {
  /** Empty if it does not report it. */
  readonly pid: string;
  readonly isStarting: boolean;
}

/** Throws when another process (or this one) holds the directory. */
export async function lockDirectory(
  directory: string,
  world: World = { clock: systemClock, random: systemRandom },
): Promise<DirectoryLock> {
  const { platform = process.platform } = world;
  if (platform === 'win32') return lockPipe(pipeName(realpathSync(directory)), directory);
  const long = join(directory, `${STARTING}${'0'.repeat(36)}`).length > LONGEST_PATH && platform === 'linux';
  const descriptor = long ? openSync(directory, 'r') : undefined;
  const within = descriptor === undefined ? directory : `/proc/self/fd/${descriptor}`;
  let own: OwnSocket | undefined;
  const release = async (): Promise<void> => {
    await own?.close();
    if (descriptor !== undefined) closeSync(descriptor);
  };
  try {
    own = await ownSocket(within, world.random);
    await becomeOnly(own, within, directory, world.clock);
    return { release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** File names of Windows are the same in upper and lower case. */
export const pipeName = (directory: string): string =>
  `\\\\.\\pipe\\plat-${createHash('sha256').update(directory.toLowerCase()).digest('hex').slice(0, 32)}`;

/** Locks a directory by a pipe that only one process can listen on. Throws when another does. */
export async function lockPipe(pipe: string, directory: string): Promise<DirectoryLock> {
  try {
    const server = await listen(pipe, () => `${process.pid}`);
    return { release: () => new Promise((resolve) => server.close(() => resolve())) };
  } catch (error) {
    const { code } = (error as Error).cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    throw inUse(directory, (await holderOf(pipe)) ?? { pid: '', isStarting: false });
  }
}

interface OwnSocket {
  readonly name: string;
  /** What it answers from now on. */
  hold(): void;
  close(): Promise<void>;
}

async function ownSocket(within: string, random: Random): Promise<OwnSocket> {
  for (let tried = 1; ; tried++) {
    const token = random.uuid();
    const name = `${LOCK}-${token}`;
    let state = ' starting';
    const server = await listen(join(within, `${STARTING}${token}`), () => `${process.pid}${state}`);
    const close = async (): Promise<void> => {
      rmSync(join(within, name), { force: true });
      await new Promise((resolve) => server.close(resolve));
    };
    try {
      renameSync(join(within, `${STARTING}${token}`), join(within, name));
    } catch (error) {
      await close();
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && tried < MOST_SOCKETS) continue;
      throw error;
    }
    return {
      name,
      hold() {
        state = '';
      },
      close,
    };
  }
}

/** Returns when no other server has a socket in the directory. */
async function becomeOnly(own: OwnSocket, within: string, directory: string, clock: Clock): Promise<void> {
  for (let look = 1; ; look++) {
    let waits = false;
    for (const name of readdirSync(within)) {
      if (name === own.name || (name !== LOCK && !name.startsWith(`${LOCK}-`))) continue;
      const holder = await holderOf(join(within, name));
      if (holder === undefined) rmSync(join(within, name), { force: true });
      else if (holder.isStarting && own.name < name && look < MOST_LOOKS) waits = true;
      else throw inUse(directory, holder);
    }
    if (!waits) break;
    await clock.sleep(LOOK_MS);
  }
  own.hold();
  for (const name of readdirSync(within)) {
    if (name.startsWith(STARTING) && (await holderOf(join(within, name))) === undefined) rmSync(join(within, name), { force: true });
  }
}

function inUse(directory: string, { pid }: Holder): Error {
  const process = pid === '' ? '' : ` (process ${pid})`;
  return new Error(
    `the data directory ${directory} is in use by another server${process}; stop that one, or give this one a directory of its own`,
  );
}

function listen(socket: string, answer: () => string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.end(answer());
    });
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`the data directory cannot be locked (${error.message}); it must be on a local disk`, { cause: error })),
    );
    server.listen(socket, () => resolve(server));
  });
}

/**
 * The listener of a socket; undefined when there is none. A listener that says nothing is asked again: a server that gives up
 * removes its socket first, and may then end a connection without an answer.
 */
async function holderOf(socket: string): Promise<Holder | undefined> {
  let holder = await answerOf(socket);
  if (holder === '') holder = existsSync(socket) ? await answerOf(socket) : undefined;
  if (holder === undefined) return undefined;
  const [pid = '', state] = holder.split(' ');
  return { pid, isStarting: state === 'starting' };
}

/** What the listener says; undefined when there is none. */
function answerOf(socket: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const connection = connect(socket);
    connection.setEncoding('latin1');
    connection.setTimeout(ANSWER_MS, () => connection.destroy());
    connection.on('data', (text: string) => {
      answer = (answer + text).slice(0, 40);
    });
    connection.on('close', () => resolve(answer));
    connection.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(undefined);
      else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve('');
      else reject(error);
    });
  });
}
