// Asks for /livez again and again from a thread of its own, and reports how long answers took.
import https from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 1 });
const took = [];
let failed = 0;
let ended = false;
parentPort.on('message', () => {
  ended = true;
});
const ask = () =>
  new Promise((resolve) => {
    const began = performance.now();
    const request = https.get(
      `${workerData.address}/livez`,
      { agent, timeout: 30_000, headers: { authorization: `Bearer ${workerData.token}` } },
      (response) => {
        response.resume();
        response.on('end', () => {
          if (response.statusCode === 200) took.push(performance.now() - began);
          else failed++;
          resolve(undefined);
        });
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => {
      failed++;
      resolve(undefined);
    });
  });
while (!ended) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 10));
}
took.sort((a, b) => a - b);
const at = (part) => +(took[Math.floor(took.length * part)] ?? 0).toFixed(1);
parentPort.postMessage({ asked: took.length + failed, failed, p50: at(0.5), p99: at(0.99), max: at(0.9999999) });
agent.destroy();
