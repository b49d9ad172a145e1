/**
 * Ports for programs that must be given one. They are not those that the system hands out by itself, from 32768 on Linux: such a
 * port may be taken by any connection before the program listens, or while it is started again.
 */
import { createServer } from 'node:net';

const LOWEST = 12_000;
const COUNT = 20_000;
/** Processes begin far apart, and no port is given twice by one: those that look at the same time do not find the same. */
let next = (process.pid * 997) % COUNT;

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === COUNT) throw new Error(`no free ports between ${LOWEST} and ${LOWEST + COUNT}`);
    const port = LOWEST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0] as number;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
