import { type Chart, labels, only } from '../chart.ts';

/** A database as a stateful set with a headless service, a budget and a network policy. */
export const database: Chart = {
  name: 'database',
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('database', values);
    return `
apiVersion: v1
kind: Secret
metadata:
  name: database
  namespace: ${namespace}
  labels:
${all}
type: Opaque
data:
  password: cGFzc3dvcmQ=
${only(version === 2, `  replication-password: cmVwbGljYXRpb24=`)}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: database-configuration
  namespace: ${namespace}
  labels:
${all}
data:
  postgresql.conf: |
    max_connections = ${version}00
    shared_buffers = 128MB
binaryData:
  logo.png: iVBORw0KGgo=
---
apiVersion: v1
kind: Service
metadata:
  name: database-headless
  namespace: ${namespace}
  labels:
${all}
  annotations: {service.alpha.kubernetes.io/tolerate-unready-endpoints: "true"}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  ports: [{name: tcp-postgresql, port: 5432, targetPort: tcp-postgresql}]
  selector: {app.kubernetes.io/instance: database}
---
apiVersion: v1
kind: Service
metadata:
  name: database
  namespace: ${namespace}
  labels:
${all}
spec:
  type: ${version === 1 ? 'ClusterIP' : 'NodePort'}
  sessionAffinity: None
  ports: [{name: tcp-postgresql, port: ${version === 1 ? 5432 : 5433}, targetPort: tcp-postgresql}]
  selector: {app.kubernetes.io/instance: database, role: primary}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: database
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: ${version + 1}
  serviceName: database-headless
  podManagementPolicy: OrderedReady
  updateStrategy: {type: RollingUpdate${version === 2 ? ', rollingUpdate: {partition: 1}' : ''}}
  selector: {matchLabels: {app.kubernetes.io/instance: database}}
  template:
    metadata:
      labels: {app.kubernetes.io/instance: database, role: primary}
    spec:
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: ${version}
            podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app.kubernetes.io/instance: database}}}
      securityContext: {fsGroup: 1001}
      initContainers:
      - name: init-chmod-data
        image: registry.example.com/shell:11
        command: [/bin/sh, -ec, "chown 1001:1001 /bitnami/postgresql"]
        securityContext: {runAsUser: 0}
        volumeMounts: [{name: data, mountPath: /bitnami/postgresql}]
      containers:
      - name: postgresql
        image: registry.example.com/postgresql:1${version}.5.0
        env:
        - {name: POSTGRES_USER, value: postgres}
        - {name: POSTGRES_PASSWORD, valueFrom: {secretKeyRef: {name: database, key: password}}}
${only(version === 1, `        - {name: POSTGRES_INITDB_WALDIR, value: /wal}`)}
${only(version === 2, `        - {name: POSTGRES_REPLICATION_MODE, value: primary}`)}
        ports: [{name: tcp-postgresql, containerPort: 5432}]
        livenessProbe: {exec: {command: [/bin/sh, -c, pg_isready]}, initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
        resources: {limits: {cpu: "1", memory: ${version}Gi}, requests: {cpu: 250m, memory: 256Mi}}
        volumeMounts:
        - {name: data, mountPath: /bitnami/postgresql}
        - {name: configuration, mountPath: /bitnami/postgresql/conf}
${only(version === 2, `        - {name: dshm, mountPath: /dev/shm}`)}
      volumes:
      - {name: configuration, configMap: {name: database-configuration}}
${only(version === 2, `      - {name: dshm, emptyDir: {medium: Memory, sizeLimit: 256Mi}}`)}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: database
  namespace: ${namespace}
  labels:
${all}
spec:
  ${version === 1 ? 'maxUnavailable: 1' : 'minAvailable: 50%'}
  selector: {matchLabels: {app.kubernetes.io/instance: database}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: database
  namespace: ${namespace}
  labels:
${all}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/instance: database}}
  policyTypes: [Ingress${version === 2 ? ', Egress' : ''}]
  ingress:
  - ports: [{port: 5432}]
    from: [{podSelector: {matchLabels: {database-client: "true"}}}]
${only(
  version === 2,
  `
  egress:
  - to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]
    ports: [{port: 5432, protocol: TCP}, {port: 5440, endPort: 5450, protocol: TCP}]`,
)}
`;
  },
};
