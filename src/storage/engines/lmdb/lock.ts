/**
 * Locks a data directory against a second server. The lock is a socket in the directory on which its holder listens: it
 * ends with the process in any case, and it works across containers that share the directory.
 */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

const NAME = 'store.lock';
/** A socket's path must be shorter than about 100 bytes; by the directory's descriptor it always is. */
const LONGEST_PATH = 100;
/** Timeout for the holder of the lock to identify itself. */
const ANSWER_MS = 2_000;

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Throws when another process (or this one) holds the directory. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, NAME);
  const descriptor = path.length > LONGEST_PATH && process.platform === 'linux' ? openSync(directory, 'r') : undefined;
  const socket = descriptor === undefined ? path : `/proc/self/fd/${descriptor}/${NAME}`;
  try {
    const server = (await listen(socket)) ?? (await takeOver(socket, directory));
    return {
      async release() {
        // Closing the server removes the socket.
        await new Promise((resolve) => server.close(resolve));
        if (descriptor !== undefined) closeSync(descriptor);
      },
    };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw error;
  }
}

/** A socket exists: its owner runs, or died without removing it. */
async function takeOver(socket: string, directory: string): Promise<Server> {
  let holder = await holderOf(socket);
  if (holder === undefined) {
    // Renaming it is atomic; if another server was faster, its new socket was renamed, and is put back.
    const aside = `${socket}.${process.pid}`;
    try {
      renameSync(socket, aside);
      holder = await holderOf(aside);
      if (holder === undefined) rmSync(aside);
      else renameSync(aside, socket);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  const server = holder === undefined ? await listen(socket) : undefined;
  if (server !== undefined) return server;
  const who = holder === undefined || holder === '' ? '' : ` (process ${holder})`;
  throw new Error(
    `the data directory ${directory} is in use by another server${who}; stop that one, or give this one a directory of its own`,
  );
}

/** The listening server; undefined when the address is taken. */
function listen(socket: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.end(`${process.pid}`);
    });
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(new Error(`the data directory cannot be locked (${error.message}); it must be on a local disk`, { cause: error }));
    });
    server.listen(socket, () => resolve(server));
  });
}

/** Process id of the listener, '' if it does not report it; undefined when there is none. */
function holderOf(socket: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let said = '';
    const connection = connect(socket);
    connection.setEncoding('latin1');
    connection.setTimeout(ANSWER_MS, () => connection.destroy());
    connection.on('data', (text: string) => {
      said = (said + text).slice(0, 20);
    });
    connection.on('close', () => resolve(said));
    connection.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(undefined);
      else reject(error);
    });
  });
}
