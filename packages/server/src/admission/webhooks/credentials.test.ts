import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonText } from '@plat-dev/lib/json-text';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { servedKind, World } from '../testing.ts';
import { credentialsByHost, readWebhookCredentials } from './credentials.ts';
import { serviceResolver } from './service.ts';

const users = (...names: string[]) => new Map(names.map((name) => [name, { authorization: name }]));

test.each([
  ['a.example.test', 443, 'a.example.test'],
  ['b.example.test', 443, '*.example.test'],
  ['c.b.example.test', 443, '*.example.test'],
  ['a.example.test', 8443, 'a.example.test:8443'],
  ['x.example.test', 8443, '*'],
  ['svc.ns.svc', 443, '*.svc'],
  ['other.test', 443, '*'],
])('for %s:%i the user is %s', (host, port, name) => {
  const find = credentialsByHost(users('a.example.test', 'a.example.test:8443', '*.example.test', '*.svc', '*'), undefined);
  expect(find(host, port).authorization).toBe(name);
});

test('without a default the current context counts, and without that the server is nobody', () => {
  expect(credentialsByHost(users('me'), 'me')('x.test', 443).authorization).toBe('me');
  expect(credentialsByHost(users('a'), undefined)('x.test', 443)).toEqual({});
});

const directory = temporaryDirectory('plat-webhook');
const configuration = (users: object[]) => {
  writeFileSync(join(directory, 'webhooks.conf'), jsonText({ apiVersion: 'v1', kind: 'Config', users }));
  return {
    value: { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: 'webhooks.conf' },
    directory,
  };
};
const b64 = (text: string) => Buffer.from(text).toString('base64');

test('certificates, passwords and tokens are read from the file', () => {
  const find = readWebhookCredentials(
    configuration([
      { name: 'cert.test', user: { 'client-certificate-data': b64('CERT'), 'client-key-data': b64('KEY') } },
      { name: 'basic.test', user: { username: 'u', password: 'p' } },
      { name: 'token.test', user: { token: 't' } },
    ]),
    kubernetes,
  );
  expect(find('cert.test', 443)).toEqual({ certificate: 'CERT', key: 'KEY' });
  expect(find('basic.test', 443)).toEqual({ authorization: `Basic ${b64('u:p')}` });
  expect(find('token.test', 443)).toEqual({ authorization: 'Bearer t' });
  expect(() => readWebhookCredentials(configuration([{ name: 'x', user: { 'client-key-data': 'AA==' } }]), kubernetes)).toThrow(
    /both a certificate and its key/,
  );
});

test('a misspelt field is refused rather than passed over', () => {
  const { kubeConfigFile, ...rest } = configuration([]).value;
  const misspelt = { value: { ...rest, kubeconfigFile: kubeConfigFile }, directory };
  expect(() => readWebhookCredentials(misspelt, kubernetes)).toThrow(/no field "kubeconfigFile" \(did you mean kubeConfigFile\?\)/);
});

test('a service leads to one of its ready endpoints', () => {
  expect(servedKind('services').kind.kind).toBe('Service');
  const world = new World()
    .with('services', {
      metadata: { name: 's', namespace: 'n' },
      spec: { clusterIP: '10.0.0.5', ports: [{ name: 'hook', port: 443, targetPort: 8443 }] },
    })
    .with('services', { metadata: { name: 'bare', namespace: 'n' }, spec: { clusterIP: '10.0.0.6', ports: [{ port: 443 }] } })
    .with('services', { metadata: { name: 'far', namespace: 'n' }, spec: { type: 'ExternalName', externalName: 'far.test' } })
    .with('endpoints', {
      metadata: { name: 's', namespace: 'n' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }], notReadyAddresses: [{ ip: '192.0.2.2' }], ports: [{ name: 'hook', port: 8443 }] }],
    });
  const resolve = serviceResolver(world.env.live, () => 0);
  expect(resolve('n', 's', 443)).toEqual({ host: '192.0.2.1', port: 8443 });
  expect(resolve('n', 'bare', 443)).toEqual({ host: '10.0.0.6', port: 443 });
  expect(resolve('n', 'far', 8443)).toEqual({ host: 'far.test', port: 8443 });
  expect(() => resolve('n', 's', 80)).toThrow(/no service port 80 found/);
  expect(() => resolve('n', 'none', 443)).toThrow(/service "none" not found/);
  world.with('endpoints', { metadata: { name: 's', namespace: 'n' }, subsets: [] });
  expect(() => resolve('n', 's', 443)).toThrow(/no endpoints available for service "s"/);
});
