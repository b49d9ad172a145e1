import { type Chart, labels, only } from '../chart.ts';

/** A message queue whose nodes find each other through the API. */
export const messageQueue: Chart = {
  name: 'message-queue',
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('message-queue', values);
    return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: message-queue
  namespace: ${namespace}
  labels:
${all}
secrets: [{name: message-queue}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: message-queue-endpoint-reader
  namespace: ${namespace}
  labels:
${all}
rules:
- {apiGroups: [""], resources: [endpoints], verbs: [get]}
- {apiGroups: [""], resources: [events], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: message-queue-endpoint-reader
  namespace: ${namespace}
  labels:
${all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: message-queue-endpoint-reader}
subjects: [{kind: ServiceAccount, name: message-queue, namespace: ${namespace}}]
---
apiVersion: v1
kind: Secret
metadata:
  name: message-queue
  namespace: ${namespace}
  labels:
${all}
type: Opaque
stringData:
  erlang-cookie: c29tZS1zZWNyZXQ
  config: |
    cluster_formation.peer_discovery_backend = k8s
    queue_master_locator = ${version === 1 ? 'min-masters' : 'client-local'}
---
apiVersion: v1
kind: Service
metadata:
  name: message-queue
  namespace: ${namespace}
  labels:
${all}
spec:
  ports:
  - {name: amqp, port: 5672, targetPort: amqp}
${only(version === 1, `  - {name: epmd, port: 4369, targetPort: epmd}`)}
  - {name: dist, port: 25672, targetPort: dist}
${only(version === 2, `  - {name: amqps, port: 5671, targetPort: amqps}`)}
  - {name: http-stats, port: 15672, targetPort: stats}
  selector: {app: message-queue}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: message-queue
  namespace: ${namespace}
  labels:
${all}
spec:
  serviceName: message-queue
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: message-queue}}
  template:
    metadata: {labels: {app: message-queue}}
    spec:
      serviceAccountName: message-queue
      terminationGracePeriodSeconds: ${version}20
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: message-queue}}}
${only(version === 2, `      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: message-queue}}}`)}
      containers:
      - name: queue
        image: registry.example.com/message-queue:3.1${version}.0
        lifecycle: {preStop: {exec: {command: [/bin/bash, -ec, "drain --timeout ${version}10"]}}}
        env:
        - {name: MY_POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        - {name: MY_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: NODE_NAME, value: "queue@$(MY_POD_NAME).message-queue"}
        - {name: MEMORY, valueFrom: {resourceFieldRef: {containerName: queue, resource: limits.memory, divisor: 1Mi}}}
        ports:
        - {name: amqp, containerPort: 5672}
${only(version === 1, `        - {name: epmd, containerPort: 4369}`)}
        - {name: dist, containerPort: 25672}
${only(version === 2, `        - {name: amqps, containerPort: 5671}`)}
        - {name: stats, containerPort: 15672}
        readinessProbe: {exec: {command: [/bin/bash, -ec, check]}, timeoutSeconds: 20, periodSeconds: 30}
        resources: {limits: {memory: 512Mi}}
        volumeMounts: [{name: configuration, mountPath: /conf}, {name: data, mountPath: /data}]
      volumes:
      - name: configuration
        projected:
          sources:
          - secret: {name: message-queue, items: [{key: config, path: queue.conf}]}
${only(version === 2, `          - downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}`)}
  volumeClaimTemplates:
  - metadata: {name: data, labels: {app: message-queue}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}
${only(
  version === 2,
  `
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: message-queue
  namespace: ${namespace}
  labels:
${all}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: message-queue}}`,
)}
`;
  },
};
