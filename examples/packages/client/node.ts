/** In Node: the server and the user of a configuration file.  node built/node.js KUBECONFIG */
import { connect } from '@plat-dev/client';
import { fromConfigFile } from '@plat-dev/client/node';
import { follow } from './follow.js';

const http = await fromConfigFile(process.argv[2] as string, { env: process.env });
const client = connect(http);
await follow(client, console.log);
client.close();
http.close();
