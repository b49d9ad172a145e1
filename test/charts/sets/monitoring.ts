import { type Chart, labels, only } from '../chart.ts';

const definition = (kind: string, plural: string): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.monitoring.example.com
spec:
  group: monitoring.example.com
  names: {kind: ${kind}, plural: ${plural}, singular: ${kind.toLowerCase()}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;

/** A monitoring stack: an agent on every node, rules and monitors as custom objects, a dashboard behind an ingress. */
export const monitoring: Chart = {
  name: 'monitoring',
  definitions: `${definition('ServiceMonitor', 'servicemonitors')}---${definition('PrometheusRule', 'prometheusrules')}`,
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('monitoring', values);
    return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: node-exporter
  namespace: ${namespace}
  labels:
${all}
imagePullSecrets: [{name: registry}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: node-exporter
  namespace: ${namespace}
  labels:
${all}
spec:
  selector: {matchLabels: {app: node-exporter}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: ${version}}}
  template:
    metadata:
      labels: {app: node-exporter}
      annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "true"}
    spec:
      serviceAccountName: node-exporter
      hostNetwork: true
      hostPID: true
      containers:
      - name: node-exporter
        image: registry.example.com/node-exporter:v1.${version}.0
        args: [--path.procfs=/host/proc, --path.sysfs=/host/sys, "--web.listen-address=[$(HOST_IP)]:9100"]
        env: [{name: HOST_IP, value: 0.0.0.0}]
        ports: [{name: metrics, containerPort: 9100, protocol: TCP}]
        volumeMounts:
        - {name: proc, mountPath: /host/proc, readOnly: true}
        - {name: sys, mountPath: /host/sys, readOnly: true}
${only(version === 2, `        - {name: root, mountPath: /host/root, mountPropagation: HostToContainer, readOnly: true}`)}
      tolerations: [{effect: NoSchedule, operator: Exists}]
      volumes:
      - {name: proc, hostPath: {path: /proc}}
      - {name: sys, hostPath: {path: /sys}}
${only(version === 2, `      - {name: root, hostPath: {path: /}}`)}
---
apiVersion: v1
kind: Service
metadata:
  name: node-exporter
  namespace: ${namespace}
  labels:
${all}
  annotations: {prometheus.io/scrape: "true"}
spec:
  ports: [{name: metrics, port: 9100, targetPort: 9100, protocol: TCP}]
  selector: {app: node-exporter}
---
apiVersion: monitoring.example.com/v1
kind: ServiceMonitor
metadata:
  name: node-exporter
  namespace: ${namespace}
  labels:
${all}
spec:
  jobLabel: jobLabel
  selector: {matchLabels: {app: node-exporter}}
  endpoints:
  - {port: metrics, scheme: http${version === 2 ? ', interval: 30s' : ''}}
---
apiVersion: monitoring.example.com/v1
kind: PrometheusRule
metadata:
  name: node.rules
  namespace: ${namespace}
  labels:
${all}
spec:
  groups:
  - name: node
    rules:
    - {alert: NodeDown, expr: up{job="node-exporter"} == 0, for: ${version}5m, labels: {severity: critical}}
${only(version === 1, `    - {record: "node:cpu:ratio", expr: "sum(rate(node_cpu_seconds_total[5m]))"}`)}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: dashboard
  namespace: ${namespace}
  labels:
${all}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: dashboard}
  minReplicas: 1
  maxReplicas: ${version * 3}
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
${only(version === 2, `  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 500Mi}}}`)}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: dashboard
  namespace: ${namespace}
  labels:
${all}
spec:
  selector: {matchLabels: {app: dashboard}}
  template:
    metadata:
      labels: {app: dashboard}
      annotations: {checksum/config: "${'0123456789abcdef'.repeat(version)}"}
    spec:
      enableServiceLinks: ${version === 1}
      containers:
      - name: dashboard
        image: registry.example.com/dashboard:9.${version}.0
        ports: [{name: http-web, containerPort: 3000}]
        envFrom:
        - configMapRef: {name: dashboard}
${only(version === 2, `        - secretRef: {name: dashboard-env, optional: true}`)}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: dashboard
  namespace: ${namespace}
  labels:
${all}
data: {GF_PATHS_DATA: /var/lib/dashboard, GF_SERVER_ROOT_URL: "https://dashboard.example.com"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: dashboard
  namespace: ${namespace}
  labels:
${all}
spec:
  ${version === 2 ? 'ingressClassName: nginx' : 'defaultBackend: {service: {name: dashboard, port: {number: 80}}}'}
  rules:
  - host: dashboard.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: dashboard, port: {number: 80}}}}
${only(
  version === 2,
  `
  tls:
  - {hosts: [dashboard.example.com], secretName: dashboard-tls}`,
)}
`;
  },
};
