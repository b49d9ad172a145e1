import { type Chart, labels, only } from '../chart.ts';

/** An ingress controller whose admission certificate is made by a job. */
export const ingressController: Chart = {
  name: 'ingress-controller',
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('ingress-controller', values);
    return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ingress-controller
  namespace: ${namespace}
  labels:
${all}
automountServiceAccountToken: true
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ingress-controller
  namespace: ${namespace}
  labels:
${all}
data:
  allow-snippet-annotations: "${version === 1}"
${only(version === 1, `  proxy-body-size: 8m`)}
${only(version === 2, `  client-body-timeout: "30"`)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ingress-controller-${namespace}
  labels:
${all}
rules:
- apiGroups: [""]
  resources: [configmaps, endpoints, nodes, pods, secrets${version === 2 ? ', namespaces' : ''}]
  verbs: [list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, ingressclasses]
  verbs: [get, list, watch]
${only(
  version === 2,
  `
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch, get]`,
)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ingress-controller-${namespace}
  labels:
${all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ingress-controller-${namespace}}
subjects:
- {kind: ServiceAccount, name: ingress-controller, namespace: ${namespace}}
---
apiVersion: v1
kind: Service
metadata:
  name: ingress-controller
  namespace: ${namespace}
  labels:
${all}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  ports:
  - {name: http, port: 80, targetPort: http, protocol: TCP, appProtocol: http}
  - {name: https, port: 443, targetPort: https, protocol: TCP, appProtocol: https}
${only(version === 2, `  - {name: metrics, port: 10254, targetPort: metrics, protocol: TCP}`)}
  selector: {app.kubernetes.io/name: ingress-controller, app.kubernetes.io/component: controller}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ingress-controller
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: ${version}
  revisionHistoryLimit: 10
  minReadySeconds: 0
  selector:
    matchLabels: {app.kubernetes.io/name: ingress-controller, app.kubernetes.io/component: controller}
  template:
    metadata:
      labels: {app.kubernetes.io/name: ingress-controller, app.kubernetes.io/component: controller}
    spec:
      dnsPolicy: ClusterFirst
      serviceAccountName: ingress-controller
      terminationGracePeriodSeconds: 300
      containers:
      - name: controller
        image: registry.example.com/ingress/controller:v${version}.4.0
        args: [/controller, --publish-service=$(POD_NAMESPACE)/ingress-controller, --election-id=leader${version === 2 ? ', --enable-metrics=true' : ''}]
        lifecycle: {preStop: {exec: {command: [/wait-shutdown]}}}
        securityContext: {capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}, runAsUser: 101, allowPrivilegeEscalation: ${version === 1}}
        env:
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
${only(version === 1, `        - {name: LD_PRELOAD, value: /usr/local/lib/libmimalloc.so}`)}
        ports:
        - {name: http, containerPort: 80}
        - {name: https, containerPort: 443}
${only(version === 2, `        - {name: metrics, containerPort: 10254}`)}
        - {name: webhook, containerPort: 8443}
        livenessProbe: {httpGet: {path: /healthz, port: 10254}, initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 5}
        readinessProbe: {httpGet: {path: /healthz, port: 10254}, initialDelaySeconds: 10}
        resources: {requests: {cpu: ${version}00m, memory: 90Mi}}
        volumeMounts:
        - {name: webhook-cert, mountPath: /usr/local/certificates/, readOnly: true}
      nodeSelector: {kubernetes.io/os: linux}
      volumes:
      - {name: webhook-cert, secret: {secretName: ingress-admission}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: ingress-${namespace}
  labels:
${all}
spec:
  controller: example.com/ingress
---
apiVersion: batch/v1
kind: Job
metadata:
  name: ingress-admission-create-${version}
  namespace: ${namespace}
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
  labels:
${all}
spec:
  template:
    metadata: {name: ingress-admission-create}
    spec:
      restartPolicy: OnFailure
      serviceAccountName: ingress-controller
      containers:
      - name: create
        image: registry.example.com/ingress/certgen:v1.3.0
        args: [create, --host=ingress-controller-admission, --namespace=$(POD_NAMESPACE), --secret-name=ingress-admission]
        env:
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
      securityContext: {runAsNonRoot: true, runAsUser: 2000}
`;
  },
};
