/** Fills a manifest with defaults and checks it, without a server. */
import { checkManifest } from '@plat-dev/kinds/manifest';

const good = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
`;
const { object, error } = checkManifest(good);
console.log('good:', error === undefined, JSON.stringify(object?.spec));

const bad = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'Web' },
  spec: {
    replicas: -1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'web', imag: 'nginx' }] } },
  },
};
const checked = checkManifest(bad);
console.log('bad:', checked.error?.code, checked.error?.reason);
for (const { field, message } of checked.error?.details?.causes ?? []) console.log(`- ${field}: ${message}`);
for (const warning of checked.warnings) console.log(`warning: ${warning}`);
