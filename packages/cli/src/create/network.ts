/** `plat create ingress` and `plat create service`. */
import { FlagError, type FlagTable, int, list, repeated, text } from '@plat-dev/lib/flags';
import { dns1123Subdomain, portName } from '@plat-dev/meta/names';
import type { JsonObject } from '@plat-dev/schema/types';
import { type Maker, maker } from './maker.ts';

const each = (help: string, value: string) => repeated<readonly string[]>([], help, value, (values) => values);

// ---- services --------------------------------------------------------------------------------------------------

const tcpFlag = { tcp: list([], 'Ports: that of the service, and that of the pods where it is another.', { value: 'PORT[:TARGET],…' }) };

/** `80`, `80:8080`, `80:http` */
function servicePort(pair: string, nodePort: number): JsonObject {
  const [port = '', target, more] = pair.split(':');
  const refused = (why: string): FlagError => new FlagError(`--tcp: ${JSON.stringify(pair)} is not of the form port[:target]: ${why}`);
  if (more !== undefined) throw refused('there are too many colons');
  if (!isPort(port)) throw refused(`${JSON.stringify(port)} is not a port from 1 to 65535`);
  if (target !== undefined && /^[+-]?\d+$/.test(target) && !isPort(target)) throw refused(`${target} is not a port from 1 to 65535`);
  const [complaint] = target === undefined || isPort(target) ? [] : portName(target);
  if (complaint !== undefined) throw refused(complaint);
  return {
    name: pair.replaceAll(':', '-'),
    port: Number(port),
    protocol: 'TCP',
    targetPort: target === undefined ? Number(port) : isPort(target) ? Number(target) : target,
    ...(nodePort > 0 && { nodePort }),
  };
}
const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 65535;

interface ServiceFacts<F extends FlagTable[string]> {
  readonly type: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly flags: F;
}
interface ServiceOptions {
  readonly tcp: readonly string[];
  readonly clusterip?: string;
  readonly externalName?: string;
  readonly nodePort?: number;
}
function serviceMaker<F extends FlagTable[string]>({ type, summary, examples, flags }: ServiceFacts<F>): Maker {
  return maker<FlagTable[string]>({
    path: `service ${type.toLowerCase()}`,
    aliases: ['svc'],
    summary,
    examples,
    kind: 'Service',
    plural: 'services',
    flags: { ...flags, ...tcpFlag },
    make(flagValues, { name }) {
      const { tcp, clusterip = '', externalName = '', nodePort = 0 } = flagValues as unknown as ServiceOptions;
      if (tcp.length === 0 && clusterip !== 'None' && type !== 'ExternalName')
        throw new FlagError('which port? For example: --tcp=80:8080');
      if (type === 'ExternalName' && externalName === '') throw new FlagError('which name? For example: --external-name=db.example.com');
      const [complaint] = externalName === '' ? [] : dns1123Subdomain(externalName);
      if (complaint !== undefined) throw new FlagError(`--external-name: ${complaint}`);
      const labels = { app: name };
      return {
        metadata: { labels },
        spec: {
          ...(clusterip !== '' && { clusterIP: clusterip }),
          ...(externalName !== '' && { externalName }),
          ...(tcp.length > 0 && { ports: tcp.map((pair) => servicePort(pair, nodePort)) }),
          selector: labels,
          type,
        },
      };
    },
  });
}

const serviceMakers: readonly Maker[] = [
  serviceMaker({
    type: 'ClusterIP',
    summary: 'Create a service with an address within the cluster.',
    examples: [
      'plat create service clusterip web --tcp=80:8080',
      'plat create service clusterip web --tcp=80:http,443:https',
      'plat create service clusterip web --clusterip=None',
    ],
    flags: { clusterip: text('', 'Address of the service; None makes a headless one.', { value: 'IP|None' }) },
  }),
  serviceMaker({
    type: 'ExternalName',
    summary: 'Create a service that is another name for a host outside of the cluster.',
    examples: [
      'plat create service externalname db --external-name=db.example.com',
      'plat create service externalname db --external-name=db.example.com --tcp=5432',
      'plat create svc externalname db --external-name=db.example.com --dry-run=client -o yaml',
    ],
    flags: { 'external-name': text('', 'Name of the host.', { value: 'HOST' }) },
  }),
  serviceMaker({
    type: 'LoadBalancer',
    summary: 'Create a service with a load balancer.',
    examples: [
      'plat create service loadbalancer web --tcp=80:8080',
      'plat create service loadbalancer web --tcp=80 --tcp=443',
      'plat create svc loadbalancer web --tcp=80 --dry-run=client -o yaml',
    ],
    flags: {},
  }),
  serviceMaker({
    type: 'NodePort',
    summary: 'Create a service with a port on every node.',
    examples: [
      'plat create service nodeport web --tcp=80:8080',
      'plat create service nodeport web --tcp=80 --node-port=30080',
      'plat create svc nodeport web --tcp=80 --dry-run=client -o yaml',
    ],
    flags: { 'node-port': int(0, 'Port on the nodes; 0 lets the server choose one.', { max: 65535 }) },
  }),
];

// ---- ingresses -------------------------------------------------------------------------------------------------

/** `host/path*=service:port[,tls[=secret]]`; a path with a star at its end is a prefix. */
const ruleForm = /^(?<host>[\w*.-]*)(?<path>\/[^=]*)=(?<service>[\w-]+):(?<port>[\w-]+)(?<tls>,tls(=(?<secret>[\w.-]*))?)?$/;

interface Rule {
  readonly host: string;
  readonly path: JsonObject;
  /** Name of the secret, '' for that of the controller. */
  readonly secret: string | undefined;
}
function readRule(text: string): Rule {
  const parts = ruleForm.exec(text)?.groups;
  if (parts === undefined) {
    throw new FlagError(`--rule: ${JSON.stringify(text)} is not of the form host/path=service:port[,tls[=secret]]`);
  }
  const { host = '', path = '', service = '', port = '', tls, secret = '' } = parts;
  const isPrefix = path.endsWith('*');
  return {
    host,
    path: { path: isPrefix ? path.slice(0, -1) : path, pathType: isPrefix ? 'Prefix' : 'Exact', backend: backend(service, port) },
    secret: tls === undefined ? undefined : secret,
  };
}
const backend = (name: string, port: string): JsonObject => ({
  service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } },
});

function defaultBackend(text: string): JsonObject {
  const [service = '', port = '', more] = text.split(':');
  if (service === '' || port === '' || more !== undefined) {
    throw new FlagError(`--default-backend: ${JSON.stringify(text)} is not of the form service:port`);
  }
  return backend(service, port);
}

/** One rule a host, with its paths in order. */
function rulesOf(rules: readonly Rule[]): JsonObject[] {
  const paths = new Map<string, JsonObject[]>();
  for (const { host, path } of rules) paths.set(host, [...(paths.get(host) ?? []), path]);
  return [...paths].map(([host, all]) => ({ ...(host !== '' && { host }), http: { paths: all } }));
}
/** One entry a secret, with its hosts; the first secret of a host counts. */
function tlsOf(rules: readonly Rule[]): JsonObject[] {
  const hosts = new Map<string, string[]>();
  const tlsHosts = new Set<string>();
  for (const { host, secret } of rules) {
    if (secret === undefined || tlsHosts.has(host) || (host === '' && secret === '')) continue;
    tlsHosts.add(host);
    hosts.set(secret, [...(hosts.get(secret) ?? []), ...(host === '' ? [] : [host])]);
  }
  return [...hosts].map(([secretName, names]) => ({
    ...(names.length > 0 && { hosts: names }),
    ...(secretName !== '' && { secretName }),
  }));
}

const ingressMaker = maker({
  path: 'ingress',
  aliases: ['ing'],
  summary: 'Create an ingress.',
  examples: [
    "plat create ingress web --rule='example.com/*=web:80'",
    "plat create ingress web --class=nginx --rule='example.com/api*=api:http,tls=web-cert' --annotation=team=a",
    'plat create ing web --default-backend=web:80',
  ],
  group: 'networking',
  kind: 'Ingress',
  plural: 'ingresses',
  flags: {
    rule: each(
      'A host and path, and where requests for it go; a * at the end makes the path a prefix. May be repeated.',
      'HOST/PATH=SERVICE:PORT[,tls[=SECRET]]',
    ),
    class: text('', 'Ingress class.', { value: 'NAME' }),
    'default-backend': text('', 'Service for requests that no rule matches.', { value: 'SERVICE:PORT' }),
    annotation: each('Annotation of the ingress; may be repeated.', 'KEY=VALUE'),
  },
  make(options) {
    if (options.rule.length === 0 && options.defaultBackend === '') {
      throw new FlagError("where to? For example: --rule='example.com/*=web:80', --default-backend=web:80");
    }
    const rules = options.rule.map(readRule);
    const tls = tlsOf(rules);
    const annotations = Object.fromEntries(
      options.annotation.map((pair) => {
        const at = pair.indexOf('=');
        if (at <= 0) throw new FlagError(`--annotation: ${JSON.stringify(pair)} is not of the form key=value`);
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
    return {
      ...(options.annotation.length > 0 && { metadata: { annotations } }),
      spec: {
        ...(options.class !== '' && { ingressClassName: options.class }),
        ...(options.defaultBackend !== '' && { defaultBackend: defaultBackend(options.defaultBackend) }),
        ...(rules.length > 0 && { rules: rulesOf(rules) }),
        ...(tls.length > 0 && { tls }),
      },
    };
  },
});

export const networkMakers: readonly Maker[] = [ingressMaker, ...serviceMakers];
