/**
 * What answers on the ports of simulated pods to proxied requests: any request gets the name of the pod, as the images do that
 * tests use for this. An annotation leads a port elsewhere (port-forward.ts).
 */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export class PodServer {
  private readonly server: Server;
  private readonly names = new WeakMap<object, string>();

  constructor() {
    this.server = createServer((req, res) => {
      req.resume();
      res.setHeader('Content-Type', 'text/plain; charset=utf-8');
      res.end(this.names.get(req.socket) ?? '');
    });
    this.server.on('upgrade', (_req, socket: Duplex) => socket.destroy());
  }
  /** Answers on a connection in the name of a pod. */
  accept(socket: Duplex, name: string): void {
    this.names.set(socket, name);
    this.server.emit('connection', socket as unknown as Socket);
  }
}
