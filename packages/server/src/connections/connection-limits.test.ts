import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from './connection-limits.ts';

let port = 1000;
function peer(address: string | undefined): Socket {
  const socket = Object.assign(new EventEmitter(), { remoteAddress: address, remotePort: port++, destroyed: false, destroy: () => {} });
  socket.destroy = () => {
    socket.destroyed = true;
    socket.emit('close');
  };
  return socket as unknown as Socket;
}

test('connections are bounded in all and by address; room comes back when one closes', () => {
  const connections = new Connections({ total: 3, perAddress: 2 });
  const first = peer('10.0.0.1');
  const admitted = [first, peer('10.0.0.1'), peer('10.0.0.1'), peer('10.0.0.2'), peer('10.0.0.3')].map((one) =>
    connections.admit(one, false),
  );
  expect(admitted).toEqual([true, true, false, true, false]);
  expect(connections.refused).toEqual({ total: 1, address: 1, handshakes: 0 });
  first.emit('close');
  first.emit('close');
  expect([connections.open, connections.admit(peer('10.0.0.1'), false), connections.open]).toEqual([2, true, 3]);
});

test('zero is no limit, and one that is gone already is not counted', () => {
  const connections = new Connections({ total: 0, perAddress: 0 });
  for (let i = 0; i < 5000; i++) expect(connections.admit(peer('10.0.0.1'), false)).toBe(true);
  expect([connections.admit(peer(undefined), false), connections.open]).toEqual([false, 5000]);
});

test('of too many handshakes the oldest ends; those that are done stay', () => {
  const connections = new Connections({ total: 0, perAddress: 0, handshakes: 2 });
  const [done, slow, slower, fresh] = [peer('a'), peer('b'), peer('c'), peer('d')] as [Socket, Socket, Socket, Socket];
  connections.admit(done, true);
  connections.ready(done);
  for (const one of [slow, slower, fresh]) connections.admit(one, true);
  expect([done, slow, slower, fresh].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false]);
  expect([connections.open, connections.refused.handshakes]).toEqual([3, 1]);
});
