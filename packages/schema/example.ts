import { applyDefaults, decode, encode } from '@plat-dev/schema/json';
import { decodeProtobuf, encodeProtobuf } from '@plat-dev/schema/protobuf';
import { int32, list, message, opt, string } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';

const Port = message('example.Port', { name: opt(1, string), port: opt(2, int32), protocol: opt(3, string, { default: 'TCP' }) });
const Service = message('example.Service', { ports: opt(1, list(Port)) });

const service = decode(Service, parseYaml('ports: [{ name: web, port: 80 }]'));
applyDefaults(Service, service);
console.log(encode(Service, service));

const bytes = encodeProtobuf(Service, service);
console.log(bytes.length, decodeProtobuf(Service, bytes).ports?.[0]?.protocol);

try {
  decode(Service, { ports: [{ port: 'http' }] });
} catch (error) {
  console.log((error as Error).message);
}
