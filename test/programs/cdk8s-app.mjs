/** A cdk8s app: a deployment behind a service, with its configuration, and an object of a kind that was imported from the server. */
import { App, Chart } from 'cdk8s';
import { ConfigMap, Deployment, Volume } from 'cdk8s-plus-33';
import { Thing, ThingSpecMode } from './imports/cdk.example.com.ts';

// What the next version of the app looks like.
const next = process.env.APP_VERSION === '2';

const app = new App();
const chart = new Chart(app, 'web', { namespace: process.env.NAMESPACE, labels: { app: 'cdk' } });
const settings = new ConfigMap(chart, 'settings', { data: { colour: next ? 'green' : 'blue' } });
const deployment = new Deployment(chart, 'server', {
  replicas: next ? 3 : 2,
  containers: [{ image: 'example.com/web:1', portNumber: 8080, securityContext: { readOnlyRootFilesystem: true } }],
});
deployment.containers[0].mount('/settings', Volume.fromConfigMap(chart, 'volume', settings));
deployment.exposeViaService({ ports: [{ port: 80, targetPort: 8080 }] });
new Thing(chart, 'thing', { spec: { size: next ? 2 : 1, mode: ThingSpecMode.LARGE } });
if (!next) {
  new ConfigMap(chart, 'obsolete');
  new Thing(chart, 'obsolete-thing', { spec: { size: 9 } });
}
app.synth();
