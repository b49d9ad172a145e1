import { type Chart, labels, only } from '../chart.ts';

/** A backup system: schedules and locations as custom objects, with a conversion that needs no webhook. */
export const backup: Chart = {
  name: 'backup',
  definitions: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: schedules.backup.example.com
  annotations: {controller-gen.example.com/version: v0.7.0}
spec:
  group: backup.example.com
  names: {kind: Schedule, plural: schedules, singular: schedule}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Schedule, type: string, jsonPath: .spec.schedule}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [schedule, template]
            properties:
              schedule: {type: string}
              template:
                type: object
                properties:
                  ttl: {type: string}
                  includedNamespaces: {type: array, nullable: true, items: {type: string}}
                  hooks: {type: object, nullable: true, x-kubernetes-preserve-unknown-fields: true}
                  size: {x-kubernetes-int-or-string: true}
              paused: {type: boolean}
          status:
            type: object
            properties:
              phase: {type: string, enum: [New, Enabled, FailedValidation], default: New}
              lastBackup: {type: string, format: date-time, nullable: true}
`,
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('backup', values);
    return `
apiVersion: backup.example.com/v1
kind: Schedule
metadata:
  name: nightly
  namespace: ${namespace}
  labels:
${all}
spec:
  schedule: "0 1 * * *"
${only(version === 2, `  paused: true`)}
  template:
    ttl: ${version === 1 ? '720h' : '240h'}
    size: ${version === 1 ? '"10%"' : '10'}
    includedNamespaces: ${version === 1 ? '["*"]' : '[]'}
${only(version === 1, `    hooks: {resources: [{name: freeze, pre: [{exec: {command: [fsfreeze]}}]}]}`)}
---
apiVersion: v1
kind: Secret
metadata:
  name: cloud-credentials
  namespace: ${namespace}
  labels:
${all}
type: Opaque
data:
  cloud: W2RlZmF1bHRdCmF3c19hY2Nlc3Nfa2V5X2lkPXgK
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: backup-cache
  namespace: ${namespace}
  labels:
${all}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
  storageClassName: ""
  selector: {matchLabels: {backup: cache}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: backup
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: 1
  selector: {matchLabels: {deploy: backup}}
  template:
    metadata:
      labels: {deploy: backup}
${only(version === 1, `      annotations: {prometheus.io/path: /metrics, prometheus.io/port: "8085"}`)}
    spec:
      restartPolicy: Always
      initContainers:
      - {name: plugin-cloud, image: "registry.example.com/backup-plugin-cloud:v1.${version}.0", volumeMounts: [{mountPath: /target, name: plugins}]}
${only(version === 2, `      - {name: plugin-csi, image: "registry.example.com/backup-plugin-csi:v0.3.0", volumeMounts: [{mountPath: /target, name: plugins}]}`)}
      containers:
      - name: backup
        image: registry.example.com/backup:v1.${version}.0
        command: [/backup]
        args: [server${version === 2 ? ', --features=EnableCSI' : ''}]
        env:
        - {name: SCRATCH_DIR, value: /scratch}
        - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: CREDENTIALS_FILE, value: /credentials/cloud}
        volumeMounts:
        - {name: plugins, mountPath: /plugins}
        - {name: cloud-credentials, mountPath: /credentials}
        - {name: scratch, mountPath: /scratch}
      volumes:
      - {name: plugins, emptyDir: {}}
      - {name: cloud-credentials, secret: {secretName: cloud-credentials}}
      - ${version === 1 ? '{name: scratch, emptyDir: {}}' : '{name: scratch, persistentVolumeClaim: {claimName: backup-cache}}'}
`;
  },
};
