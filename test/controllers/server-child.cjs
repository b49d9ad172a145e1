/** The server of the package in a process of its own, to be killed. Arguments: the package, its options as JSON. It prints `ready <port>`. */
'use strict';
const { writeSync } = require('node:fs');

const [index, options] = process.argv.slice(2);
const { startServer } = require(index);
const ignore = () => {};
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, enabled: () => false, child: () => log, flush: ignore };
startServer(JSON.parse(options), { log }).then(({ port }) => writeSync(1, `ready ${port}\n`));
