import { type Chart, labels, only } from '../chart.ts';

const schema = '{type: object, x-kubernetes-preserve-unknown-fields: true}';
const definition = (kind: string, plural: string): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.ci.example.com
spec:
  group: ci.example.com
  preserveUnknownFields: false
  names: {kind: ${kind}, plural: ${plural}, singular: ${kind.toLowerCase()}, categories: [ci, all]}
  scope: Namespaced
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: ${schema}}, subresources: {status: {}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}, subresources: {status: {}}}
`;

/** A CI system with tasks and pipelines, a quota for its runs and a nightly job. */
export const pipelines: Chart = {
  name: 'pipelines',
  definitions: `${definition('Task', 'tasks')}---${definition('Pipeline', 'pipelines')}`,
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('pipelines', values);
    return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: feature-flags
  namespace: ${namespace}
  labels:
${all}
data:
  disable-affinity-assistant: "false"
  enable-api-fields: ${version === 1 ? 'stable' : 'beta'}
${only(version === 1, `  enable-tekton-oci-bundles: "false"`)}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: pipelines-controller
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: 1
  selector: {matchLabels: {app: pipelines-controller}}
  template:
    metadata: {labels: {app: pipelines-controller}}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: NotIn, values: [windows]}]}]
      containers:
      - name: controller
        image: registry.example.com/ci/controller:v0.${version}
        args: ["-entrypoint-image", "registry.example.com/ci/entrypoint:v0.${version}", "-shell-image", "registry.example.com/shell:11"]
        env:
        - {name: SYSTEM_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: CONFIG_FEATURE_FLAGS_NAME, value: feature-flags}
        volumeMounts: [{name: config-logging, mountPath: /etc/config-logging}]
        startupProbe: {tcpSocket: {port: probes}, failureThreshold: ${version}0}
        ports: [{name: metrics, containerPort: 9090}, {name: probes, containerPort: 8080}]
      volumes: [{name: config-logging, configMap: {name: feature-flags}}]
---
apiVersion: ci.example.com/v1
kind: Task
metadata:
  name: build
  namespace: ${namespace}
  labels:
${all}
spec:
  params: [{name: revision, type: string, default: main}]
  steps:
  - {name: clone, image: registry.example.com/git:${version}, script: "git clone $(params.revision)"}
${only(version === 2, `  - {name: test, image: registry.example.com/go:1.19, command: [go, test, ./...]}`)}
  results: [{name: commit, description: The commit that was built}]
---
apiVersion: ci.example.com/v1beta1
kind: Pipeline
metadata:
  name: release
  namespace: ${namespace}
  labels:
${all}
spec:
  tasks:
  - {name: build, taskRef: {name: build}${version === 2 ? ', retries: 9007199254740991' : ''}}
  finally: [{name: report, taskRef: {name: build}}]
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: runs
  namespace: ${namespace}
  labels:
${all}
spec:
  hard: {pods: "${version}00", requests.cpu: "20"${version === 1 ? ', count/jobs.batch: "50"' : ', limits.memory: 64Gi'}}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: prune-runs
  namespace: ${namespace}
  labels:
${all}
spec:
  schedule: "${version === 1 ? '0 2 * * *' : '*/30 2-4 * * 1-5'}"
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: ${version}
  jobTemplate:
    spec:
      backoffLimit: ${version}
      ttlSecondsAfterFinished: 3600
      template:
        spec:
          restartPolicy: Never
          containers: [{name: prune, image: "registry.example.com/ci/cli:v0.${version}", args: [delete, --keep, "10"]}]
`;
  },
};
