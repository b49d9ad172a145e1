/** Services and ingresses. */
import { listAt, mapAt, textAt, type Value } from '../../../../api/values.ts';
import { code, fact, list, type Shown, type Summary, text } from '../summary.ts';

export function serviceSummary(service: Value): Summary {
  const selector = Object.fromEntries(Object.entries(mapAt(service, 'spec', 'selector')).map(([key, value]) => [key, String(value)]));
  const ingress = listAt(service, 'status', 'loadBalancer', 'ingress');
  return {
    facts: [
      ...fact('Type', textAt(service, 'spec', 'type')),
      ...fact('Addresses', list(listAt(service, 'spec', 'clusterIPs').map((address) => code(String(address))))),
      ...fact('External addresses', list(ingress.map((entry) => code(textAt(entry, 'ip') || textAt(entry, 'hostname'))))),
      ...fact('External name', textAt(service, 'spec', 'externalName')),
      ...fact('Session affinity', textAt(service, 'spec', 'sessionAffinity')),
      ...fact('Selector', { type: 'labels', labels: selector }),
    ],
    tables: [
      {
        title: 'Ports',
        columns: ['Name', 'Port', 'Target', 'Node port'],
        rows: listAt(service, 'spec', 'ports').map((port) => [
          text(textAt(port, 'name')),
          code(`${textAt(port, 'port')}/${textAt(port, 'protocol') || 'TCP'}`),
          code(textAt(port, 'targetPort')),
          code(textAt(port, 'nodePort')),
        ]),
        empty: 'The service has no ports.',
      },
    ],
  };
}

export function ingressSummary(ingress: Value): Summary {
  const namespace = textAt(ingress, 'metadata', 'namespace');
  const rules = listAt(ingress, 'spec', 'rules').flatMap((rule) =>
    listAt(rule, 'http', 'paths').map((path) => [
      text(textAt(rule, 'host') || 'any host'),
      code(textAt(path, 'path') || '/'),
      text(textAt(path, 'pathType')),
      backend(path, namespace),
    ]),
  );
  return {
    facts: [
      ...fact('Class', textAt(ingress, 'spec', 'ingressClassName')),
      ...fact(
        'Addresses',
        list(listAt(ingress, 'status', 'loadBalancer', 'ingress').map((entry) => code(textAt(entry, 'ip') || textAt(entry, 'hostname')))),
      ),
      ...fact('Default backend', textAt(ingress, 'spec', 'defaultBackend', 'service', 'name')),
    ],
    tables: [
      { title: 'Rules', columns: ['Host', 'Path', 'Match', 'Backend'], rows: rules, empty: 'The ingress has no rules.' },
      {
        title: 'TLS',
        columns: ['Hosts', 'Secret'],
        rows: listAt(ingress, 'spec', 'tls').map((tls) => [
          list(listAt(tls, 'hosts').map((host) => text(String(host)))),
          { type: 'link', apiVersion: 'v1', kind: 'Secret', namespace, name: textAt(tls, 'secretName') },
        ]),
      },
    ],
  };
}

function backend(path: Value, namespace: string): Shown {
  const service = textAt(path, 'backend', 'service', 'name');
  const port = textAt(path, 'backend', 'service', 'port', 'number') || textAt(path, 'backend', 'service', 'port', 'name');
  if (service === '') return text(textAt(path, 'backend', 'resource', 'name'));
  return list([{ type: 'link', apiVersion: 'v1', kind: 'Service', namespace, name: service }, code(`port ${port}`)]);
}
