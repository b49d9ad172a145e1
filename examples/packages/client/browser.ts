/** In a browser: the server that the page comes from. What it has seen it leaves in a config map. */
import { connect } from '@plat-dev/client';
import { follow } from './follow.js';

const client = connect({ server: location.origin });
const lines: string[] = [];
await follow(client, (line) => lines.push(line)).catch((error: unknown) => lines.push(String(error)));
await client.core.v1.configmaps('default').apply({ metadata: { name: 'seen' }, data: { lines: lines.join('\n') } });
client.close();
