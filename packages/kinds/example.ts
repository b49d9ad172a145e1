import { checkManifest } from '@plat-dev/kinds/manifest';

const { object } = checkManifest(`
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { ports: [{ port: 80 }] }
`);
console.log(object?.spec);

const { error } = checkManifest({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports: [{ port: 0 }] } });
for (const { field, message } of error?.details?.causes ?? []) console.log(`${field}: ${message}`);
