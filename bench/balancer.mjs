// A TCP balancer in its own process: each connection goes to the next server in turn.
//   node bench/balancer.mjs PORT [PORT…]    ports of servers on 127.0.0.1; prints its own port.
import { connect, createServer } from 'node:net';

const ports = process.argv.slice(2).map(Number);
let next = 0;
const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: ports[next++ % ports.length], host: '127.0.0.1', noDelay: true });
  client.pipe(upstream).pipe(client);
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ])
    one.on('error', () => {}).on('close', () => other.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
