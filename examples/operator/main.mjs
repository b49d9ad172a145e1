/** Runs the operator with the client configuration of the user, or of the pod that it runs in. */
import * as k8s from '@kubernetes/client-node';
import { startOperator } from './operator.js';

const kubeConfig = new k8s.KubeConfig();
kubeConfig.loadFromDefault();
const operator = await startOperator({
  k8s,
  kubeConfig,
  report: (error, key) => console.error(`cannot reconcile ${key}: ${error.message}`),
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => operator.stop());
