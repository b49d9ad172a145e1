import { type Chart, labels, only } from '../chart.ts';

/** A storage driver: a class, a driver object, a controller with sidecars and an agent on every node. */
export const storageDriver: Chart = {
  name: 'storage-driver',
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('storage-driver', values);
    const sidecar = (name: string, tag: string, more = ''): string =>
      `      - {name: ${name}, image: "registry.example.com/csi/${name}:${tag}", args: [--csi-address=$(ADDRESS), --v=5${more}], env: [{name: ADDRESS, value: /csi/csi.sock}], volumeMounts: [{name: socket, mountPath: /csi}]}`;
    return `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata:
  name: driver-${namespace}.example.com
  labels:
${all}
spec:
  attachRequired: true
  podInfoOnMount: false
  fsGroupPolicy: File
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: fast-${namespace}
  labels:
${all}
  annotations: {storageclass.kubernetes.io/is-default-class: "${version === 2}"}
provisioner: driver-${namespace}.example.com
parameters: {type: pd-ssd, csi.storage.k8s.io/fstype: ext4}
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: ${version === 2}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: storage-${namespace}
  labels:
${all}
value: 900001000
globalDefault: false
description: "Agents of the storage driver${version === 2 ? ', and its controller' : ''}"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: storage-driver-${namespace}
  labels:
${all}
rules:
- {apiGroups: [""], resources: [persistentvolumes], verbs: [get, list, watch, create, patch, delete]}
- {apiGroups: [storage.k8s.io], resources: [volumeattachments, volumeattachments/status], verbs: [get, list, watch, patch]}
${only(version === 2, `- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, watch, list, delete, update, create]}`)}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: csi-controller
  namespace: ${namespace}
  labels:
${all}
spec:
  replicas: 2
  selector: {matchLabels: {app: csi-controller}}
  template:
    metadata: {labels: {app: csi-controller}}
    spec:
${only(version === 2, `      priorityClassName: storage-${namespace}`)}
      containers:
${sidecar('csi-provisioner', `v3.${version}.0`, version === 2 ? ', --feature-gates=Topology=true' : '')}
${sidecar('csi-attacher', 'v3.4.0')}
${only(version === 1, sidecar('csi-snapshotter', 'v5.0.0'))}
${only(version === 2, sidecar('csi-resizer', 'v1.4.0'))}
      - name: driver
        image: registry.example.com/csi/driver:v${version}.0.0
        args: [--endpoint=unix:///csi/csi.sock]
        livenessProbe: {httpGet: {path: /healthz, port: healthz}, periodSeconds: ${version}0}
        ports: [{name: healthz, containerPort: 9808, protocol: TCP}]
        volumeMounts: [{name: socket, mountPath: /csi}]
      volumes: [{name: socket, emptyDir: {}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: csi-node
  namespace: ${namespace}
  labels:
${all}
spec:
  selector: {matchLabels: {app: csi-node}}
  template:
    metadata: {labels: {app: csi-node}}
    spec:
      priorityClassName: storage-${namespace}
      tolerations: ${version === 1 ? '[{operator: Exists}]' : '[{key: node-role.kubernetes.io/control-plane, operator: Exists}, {operator: Exists, effect: NoExecute, tolerationSeconds: 300}]'}
      containers:
      - name: driver
        image: registry.example.com/csi/driver:v${version}.0.0
        args: [--endpoint=unix:///csi/csi.sock, --nodeid=$(NODE_ID)]
        securityContext: {privileged: true}
        env: [{name: NODE_ID, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        volumeMounts:
        - {name: kubelet-dir, mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}
        - {name: plugin-dir, mountPath: /csi}
${only(version === 2, `        - {name: device-dir, mountPath: /dev}`)}
      volumes:
      - {name: kubelet-dir, hostPath: {path: /var/lib/kubelet, type: Directory}}
      - {name: plugin-dir, hostPath: {path: /var/lib/kubelet/plugins/driver, type: DirectoryOrCreate}}
${only(version === 2, `      - {name: device-dir, hostPath: {path: /dev, type: Directory}}`)}
`;
  },
};
