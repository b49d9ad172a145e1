import type { Loose } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import { commandOf } from './container-command.ts';
import { mountedFiles, noSources, variablesOf } from './container-view.ts';
import { hostnameOf } from './network-files.ts';
import { serviceVariables } from './service-variables.ts';

const service = (name: string, clusterIP: string, ports: Loose[]): Loose => ({ metadata: { name }, spec: { clusterIP, ports } });

test('services are known by variables, with an address of their own only', () => {
  const ports = [
    { name: 'http-alt', port: 80 },
    { port: 53, protocol: 'UDP' },
  ];
  expect([...serviceVariables(service('my-web', '10.0.0.11', ports))]).toEqual([
    ['MY_WEB_SERVICE_HOST', '10.0.0.11'],
    ['MY_WEB_SERVICE_PORT', '80'],
    ['MY_WEB_SERVICE_PORT_HTTP_ALT', '80'],
    ['MY_WEB_PORT', 'tcp://10.0.0.11:80'],
    ['MY_WEB_PORT_80_TCP', 'tcp://10.0.0.11:80'],
    ['MY_WEB_PORT_80_TCP_PROTO', 'tcp'],
    ['MY_WEB_PORT_80_TCP_PORT', '80'],
    ['MY_WEB_PORT_80_TCP_ADDR', '10.0.0.11'],
    ['MY_WEB_PORT_53_UDP', 'udp://10.0.0.11:53'],
    ['MY_WEB_PORT_53_UDP_PROTO', 'udp'],
    ['MY_WEB_PORT_53_UDP_PORT', '53'],
    ['MY_WEB_PORT_53_UDP_ADDR', '10.0.0.11'],
  ]);
  expect([...serviceVariables(service('headless', 'None', ports)), ...serviceVariables(service('none', '', ports))]).toEqual([]);
  expect(new Map(serviceVariables(service('six', 'fd00::1', [{ port: 80 }]))).get('SIX_PORT')).toBe('tcp://[fd00::1]:80');
});

test('variables name others and those of services, and so does the command', () => {
  const container = {
    command: ['sh', '-c', 'echo $(URL) $$(URL) $(NONE)'],
    env: [
      { name: 'URL', value: 'http://$(WEB_SERVICE_HOST)/$(LATER)' },
      { name: 'LATER', value: 'x' },
    ],
  } as Loose;
  const sources = { ...noSources, services: [service('web', '10.0.0.11', [{ port: 80 }])] };
  const variables = variablesOf({ metadata: { name: 'p' } } as Loose, container, sources);
  expect(variables.get('URL')).toBe('http://10.0.0.11/$(LATER)');
  expect(commandOf(container, variables)).toEqual(['sh', '-c', 'echo http://10.0.0.11/$(LATER) $(URL) $(NONE)']);
});

test('variables that name each other again and again are bounded', () => {
  const env = [{ name: 'V0', value: 'x'.repeat(1000) }];
  for (let i = 1; i < 60; i++) env.push({ name: `V${i}`, value: `$(V${i - 1})`.repeat(8) });
  const variables = variablesOf({ metadata: { name: 'p' } } as Loose, { env } as Loose, noSources);
  expect(variables.get('V1')).toBe('x'.repeat(8000));
  expect([...variables.values()].reduce((size, value) => size + value.length, 0)).toBeLessThan(2e6);
});

test('files of mounted objects are bounded, and a mount path may be of any length', () => {
  const contents = new Map(Array.from({ length: 3000 }, (_, i) => [`k${i}`, '']));
  const volumeMounts = Array.from({ length: 100 }, (_, i) => ({ name: 'v', mountPath: `/m${i}/` }));
  volumeMounts.unshift({ name: 'v', mountPath: `/a${'/'.repeat(100_000)}x` });
  const pod = { metadata: { name: 'p' }, spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } };
  const files = mountedFiles(pod as Loose, { volumeMounts } as Loose, { ...noSources, configMap: () => contents });
  expect(files.size).toBe(10_000);
});

test('keys of users are no properties of objects: what a config map, a label or a request does not have is not there', () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const env = names.flatMap((key, i) => [
    { name: `MAP${i}`, valueFrom: { configMapKeyRef: { name: 'c', key } } },
    { name: `SECRET${i}`, valueFrom: { secretKeyRef: { name: 's', key } } },
    { name: `LABEL${i}`, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${key}']` } } },
    { name: `LIMIT${i}`, valueFrom: { resourceFieldRef: { resource: `limits.${key}` } } },
  ]);
  const items = names.map((key) => ({ key, path: key }));
  const volumes = [
    { name: 'map', configMap: { name: 'c', items } },
    { name: 'secret', secret: { secretName: 's', items } },
    { name: 'all', projected: { sources: [{ configMap: { name: 'c', items } }] } },
  ];
  const pod = { metadata: { name: 'p', labels: {} }, spec: { volumes } } as Loose;
  const container = {
    env,
    resources: { limits: {} },
    volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
  } as Loose;
  const empty = { ...noSources, configMap: () => new Map(), secret: () => new Map() };
  const unset = mountedFiles(pod, {} as Loose, empty);
  expect(mountedFiles(pod, container, empty)).toEqual(unset);
  const variables = variablesOf(pod, container, empty);
  for (const i of names.keys()) {
    expect([variables.get(`MAP${i}`), variables.get(`SECRET${i}`)]).toEqual([undefined, undefined]);
    expect([variables.get(`LABEL${i}`), variables.get(`LIMIT${i}`)]).toEqual(['', '0']);
  }
  const files = mountedFiles(pod, container, { ...empty, configMap: () => new Map([['__proto__', 'text']]) });
  expect([files.get('/map/__proto__'), files.get('/all/__proto__'), files.size - unset.size]).toEqual(['text', 'text', 2]);
});

const networkOf = (spec: Loose, status: Loose = { podIP: '10.1.0.1' }): Record<string, string> => {
  const pod = { metadata: { name: 'p', namespace: 'ns' }, spec, status } as Loose;
  return Object.fromEntries(mountedFiles(pod, {} as Loose, { ...noSources, nameserver: '10.96.0.10' }));
};

test('hosts have the name of the pod and its aliases', () => {
  const hosts = (spec: Loose, status?: Loose): string => networkOf(spec, status)['/etc/hosts'] ?? '';
  expect(hosts({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] })).toContain(
    '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n',
  );
  expect(hosts({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] })).toContain(
    '10.1.0.1\tp\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n',
  );
  expect(hosts({ hostname: 'web', subdomain: 'set' })).toContain('10.1.0.1\tweb.set.ns.svc.cluster.local\tweb\n');
  expect(hosts({}, { podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }] })).toContain('10.1.0.1\tp\nfd00::1\tp\n');
  expect(hosts({ hostNetwork: true, nodeName: 'node-0' })).toContain('# Kubernetes-managed hosts file (host network).\n');
});

test('the name of a host is that of the pod, of its spec or of its node, and not too long', () => {
  const hostname = (spec: Loose): string => networkOf(spec)['/etc/hostname'] ?? '';
  expect([hostname({}), hostname({ hostname: 'web' }), hostname({ hostNetwork: true, nodeName: 'node-0' })]).toEqual([
    'p\n',
    'web\n',
    'node-0\n',
  ]);
  expect(hostnameOf({ metadata: { name: `${'a'.repeat(60)}--.bcd` } } as Loose)).toBe('a'.repeat(60));
});

test('name servers and search domains follow from the policy and the configuration of the pod', () => {
  const resolver = (spec: Loose): string => networkOf(spec)['/etc/resolv.conf'] ?? '';
  const cluster = 'search ns.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n';
  expect([resolver({}), resolver({ dnsPolicy: 'ClusterFirst' })]).toEqual([cluster, cluster]);
  expect(resolver({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })).toBe(cluster);
  const ofNode = 'search .\nnameserver 127.0.0.1\n';
  expect([resolver({ dnsPolicy: 'Default' }), resolver({ hostNetwork: true, dnsPolicy: 'ClusterFirst' })]).toEqual([ofNode, ofNode]);
  const dnsConfig = {
    nameservers: ['1.1.1.1', '10.96.0.10', '2.2.2.2', '3.3.3.3'],
    searches: ['example.com', 'ns.svc.cluster.local'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  };
  expect(resolver({ dnsConfig })).toBe(
    'search ns.svc.cluster.local svc.cluster.local cluster.local example.com\nnameserver 10.96.0.10\nnameserver 1.1.1.1\nnameserver 2.2.2.2\noptions ndots:2 edns0\n',
  );
  expect(resolver({ dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'] } })).toBe('nameserver 1.1.1.1\n');
  const long = Array.from({ length: 9 }, (_, i) => `${'d'.repeat(60)}${i}.example.com`);
  expect(resolver({ dnsPolicy: 'None', dnsConfig: { searches: long } })).toBe(`search ${long.slice(0, 3).join(' ')}\n`);
});
