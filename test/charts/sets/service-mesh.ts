import { type Chart, labels, only } from '../chart.ts';

/** The control plane of a service mesh: an injector, two kinds of its own at cluster scope, an API of another server. */
export const serviceMesh: Chart = {
  name: 'service-mesh',
  definitions: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: meshpolicies.mesh.example.com
spec:
  group: mesh.example.com
  names: {kind: MeshPolicy, plural: meshpolicies, singular: meshpolicy}
  scope: Cluster
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              mtls: {type: string, enum: [STRICT, PERMISSIVE], default: PERMISSIVE}
              ports: {type: object, additionalProperties: {type: object, properties: {mode: {type: string}}}}
              rules: {type: array, x-kubernetes-list-type: atomic, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`,
  manifests: (values) => {
    const { namespace, version, webhook } = values;
    const all = labels('service-mesh', values);
    return `
apiVersion: mesh.example.com/v1alpha1
kind: MeshPolicy
metadata:
  name: ${namespace}
  labels:
${all}
spec:
${only(version === 2, `  mtls: STRICT`)}
  ports:
    "8080": {mode: DISABLE}
${only(version === 1, `    "9090": {mode: STRICT}`)}
  rules:
  - {from: [{source: {namespaces: [${namespace}]}}]}
${only(version === 2, `  - {to: [{operation: {methods: [GET], ports: ["8080", 9223372036]}}]}`)}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: sidecar-injector-${namespace}
  labels:
${all}
webhooks:
- name: injector.mesh.example.com
  admissionReviewVersions: [v1beta1, v1]
  sideEffects: None
  failurePolicy: Fail
  reinvocationPolicy: ${version === 1 ? 'Never' : 'IfNeeded'}
  clientConfig: {service: {name: mesh, namespace: ${namespace}, path: /inject, port: 443}, caBundle: ${webhook.caBundle}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  namespaceSelector: {matchLabels: {mesh-injection: enabled}}
  objectSelector: {matchExpressions: [{key: sidecar.mesh.example.com/inject, operator: NotIn, values: ["false"]}]}
${only(
  version === 2,
  `
- name: revision.mesh.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: mesh, namespace: ${namespace}, path: /inject}, caBundle: ${webhook.caBundle}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  objectSelector: {matchLabels: {mesh.example.com/rev: canary}}`,
)}
---
apiVersion: v1
kind: Service
metadata:
  name: mesh
  namespace: ${namespace}
  labels:
${all}
spec:
  ipFamilyPolicy: SingleStack
  ports:
  - {name: grpc-xds, port: 15010, protocol: TCP}
  - {name: https-dns, port: 15012, protocol: TCP}
  - {name: https-webhook, port: 443, targetPort: 15017, protocol: TCP}
${only(version === 2, `  - {name: dns-udp, port: 53, targetPort: 15053, protocol: UDP}\n  - {name: dns-tcp, port: 54, targetPort: 15053, protocol: TCP}`)}
  selector: {app: mesh}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mesh
  namespace: ${namespace}
  labels:
${all}
spec:
  strategy: {rollingUpdate: {maxSurge: 100%, maxUnavailable: ${version === 1 ? '25%' : '0'}}}
  selector: {matchLabels: {app: mesh}}
  template:
    metadata:
      labels: {app: mesh, sidecar.mesh.example.com/inject: "false"}
    spec:
      priorityClassName: system-cluster-critical
      containers:
      - name: discovery
        image: registry.example.com/mesh/pilot:1.1${version}.0
        args: [discovery, --monitoringAddr=:15014, --domain, cluster.local]
        ports: [{containerPort: 8080, protocol: TCP}, {containerPort: 15010, protocol: TCP}, {containerPort: 15017, protocol: TCP}]
        env:
        - {name: REVISION, value: default}
${only(version === 2, `        - {name: PILOT_TRACE_SAMPLING, value: "1"}`)}
        - {name: POD_NAME, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
        volumeMounts:
        - {name: token, mountPath: /var/run/secrets/tokens, readOnly: true}
        - {name: ca-root, mountPath: /var/run/secrets/ca, readOnly: true}
      volumes:
      - name: token
        projected: {sources: [{serviceAccountToken: {audience: mesh-ca, expirationSeconds: ${version === 1 ? 43200 : 21600}, path: token}}]}
      - {name: ca-root, configMap: {name: ca-root-cert, optional: true}}
`;
  },
};
