// Loaded before the server of bench/soak.mjs (with --expose-gc): tells how much memory is in use after a full collection.
process.on('message', (message) => {
  if (message !== 'sample') return;
  global.gc();
  global.gc();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  process.send({ heapUsed, external, arrayBuffers });
});
process.channel?.unref();
