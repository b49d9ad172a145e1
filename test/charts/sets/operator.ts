import { type Chart, labels, only } from '../chart.ts';

const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusters.operator.example.com
spec:
  group: operator.example.com
  names: {kind: Cluster, plural: clusters, singular: cluster, shortNames: [ocl], categories: [all]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.members, statusReplicasPath: .status.ready}}
    additionalPrinterColumns:
    - {name: Members, type: integer, jsonPath: .spec.members}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [members]
            properties:
              members: {type: integer, minimum: 1, maximum: 9}
              version: {type: string, default: "15"}
              backup: {type: object, properties: {schedule: {type: string}, keep: {type: integer, default: 7}}}
              users:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, roles: {type: array, items: {type: string}}}}
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;

/** An operator with a webhook whose certificate it made itself. */
export const operator: Chart = {
  name: 'operator',
  definitions,
  manifests: (values) => {
    const { namespace, version, webhook } = values;
    const all = labels('operator', values);
    return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: operator
  namespace: ${namespace}
  labels:
${all}
---
apiVersion: v1
kind: Secret
metadata:
  name: operator-webhook-cert
  namespace: ${namespace}
  labels:
${all}
type: Opaque
data:
  ca.crt: ${webhook.caBundle}
stringData:
  note: "release ${version}"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: operator
  namespace: ${namespace}
  labels:
${all}
rules:
- {apiGroups: [operator.example.com], resources: [clusters, clusters/status, clusters/finalizers], verbs: ["*"]}
- {apiGroups: [apps], resources: [statefulsets], verbs: [get, list, watch, create, update, patch${version === 2 ? ', delete' : ''}]}
${only(version === 1, `- {apiGroups: [extensions], resources: [ingresses], verbs: [get]}`)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: operator
  namespace: ${namespace}
  labels:
${all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects:
- {kind: ServiceAccount, name: operator, namespace: ${namespace}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: operator
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: 1
  progressDeadlineSeconds: ${version}00
  selector: {matchLabels: {control-plane: operator}}
  template:
    metadata:
      labels: {control-plane: operator}
      annotations: {kubectl.kubernetes.io/default-container: manager}
    spec:
      serviceAccountName: operator
      securityContext: {runAsNonRoot: true}
      containers:
      - name: manager
        image: registry.example.com/operator:v${version}
        command: [/manager]
        args: [--leader-elect, --zap-log-level=info]
        ports: [{name: webhook-server, containerPort: 9443, protocol: TCP}]
        volumeMounts: [{name: cert, mountPath: /tmp/k8s-webhook-server/serving-certs, readOnly: true}]
${only(
  version === 1,
  `
      - name: rbac-proxy
        image: registry.example.com/rbac-proxy:v0.8.0
        args: ["--secure-listen-address=0.0.0.0:8443", "--upstream=http://127.0.0.1:8080/"]
        ports: [{name: https, containerPort: 8443, protocol: TCP}]`,
)}
      volumes: [{name: cert, secret: {secretName: operator-webhook-cert, defaultMode: 420}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: operator-${namespace}
  labels:
${all}
webhooks:
- name: default.operator.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "${webhook.url}", caBundle: ${webhook.caBundle}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${namespace}}}
  rules:
  - {apiGroups: [operator.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [clusters]}
---
apiVersion: operator.example.com/v1
kind: Cluster
metadata:
  name: main
  namespace: ${namespace}
  labels:
${all}
spec:
  members: ${version + 1}
${only(version === 1, `  backup: {schedule: "0 3 * * *"}`)}
  users:
  - {name: admin, roles: [superuser]}
${only(version === 2, `  - {name: reader, roles: [select]}`)}
`;
  },
};
