/** What a Website owns, as manifests. */
function manifestsOf({ apiVersion, kind, metadata: { name, namespace, uid }, spec: { html, replicas } }) {
  const labels = { 'app.kubernetes.io/name': name };
  const metadata = { name, namespace, labels, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };
  const container = {
    name: 'nginx',
    image: 'nginx:1.27',
    ports: [{ containerPort: 80 }],
    volumeMounts: [{ name: 'page', mountPath: '/usr/share/nginx/html' }],
  };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'index.html': html } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container], volumes: [{ name: 'page', configMap: { name } }] } },
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
  ];
}

module.exports = { manifestsOf };
