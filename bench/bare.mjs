// The yardstick: a bare node:https server that sends fixed bodies, with the same kind of key as plat's own.
//   node bench/bare.mjs KEY CERT SMALL LARGE    SMALL and LARGE are sizes in bytes; prints its port.
import { readFileSync } from 'node:fs';
import https from 'node:https';

const [key, cert, small, large] = process.argv.slice(2);
const bodies = { '/small': Buffer.alloc(Number(small), 'x'), '/large': Buffer.alloc(Number(large), 'x') };
const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (req, res) => {
  if (req.method === 'POST') {
    req.on('data', () => {});
    req.on('end', () => {
      res.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': bodies['/small'].length });
      res.end(bodies['/small']);
    });
    return;
  }
  const body = bodies[req.url] ?? bodies['/small'];
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  res.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
