/** Directories with kustomizations, for tests of `kustomize` and -k: files by path, and the directory that is built. */

export interface KustomizationCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The directory to build; `.` if it is not named. */
  readonly directory?: string;
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      serviceAccountName: runner
      initContainers:
      - {name: init, image: "registry.example.com:5000/busybox@sha256:abc"}
      containers:
      - name: main
        image: nginx:1.19
        ports:
        - containerPort: 80
          name: http
        - {containerPort: 53}
        env:
        - {name: A, value: "1"}
        - name: B
          valueFrom: {configMapKeyRef: {name: settings, key: b}}
        - name: C
          valueFrom: {secretKeyRef: {name: keys, key: c}}
        envFrom:
        - configMapRef: {name: settings}
        volumeMounts:
        - {name: config, mountPath: /etc/config}
      - name: side
        image: busybox
        args: ["-x", "y"]
      volumes:
      - name: config
        configMap: {name: settings}
      - name: keys
        secret: {secretName: keys}
      - name: both
        projected:
          sources:
          - configMap: {name: settings}
          - secret: {name: keys}
`;
const account = `apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
imagePullSecrets: [{name: keys}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [secrets], resourceNames: [keys], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reads}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {kind: ServiceAccount, name: runner}
- {kind: ServiceAccount, name: default, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lists}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: ServiceAccount, name: runner, namespace: default}
`;
const service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{port: 80}]
`;
const more = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  tls: [{hosts: [a.example.com], secretName: keys}]
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: web, port: {number: 80}}}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 0 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: run, image: nginx, env: [{name: X, valueFrom: {configMapKeyRef: {name: settings, key: b}}}]}
---
apiVersion: example.com/v1
kind: Bed
metadata: {name: bed}
spec:
  rows: [{name: a, n: 1}, {name: b, n: 2}]
---
apiVersion: v1
kind: Namespace
metadata: {name: home}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: a.example.com
  clientConfig: {service: {name: web, namespace: default, path: /x}}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`;
const generators = `configMapGenerator:
- name: settings
  literals: [b=1, 'quoted="x y"', empty=]
  files: [data.txt, renamed=data.txt]
  envs: [more.env]
secretGenerator:
- name: keys
  type: example.com/keys
  literals: [c=secret<&>]
- name: long
  files: [long.txt]
`;
const base: Readonly<Record<string, string>> = {
  'base/web.yaml': web,
  'base/account.yaml': account,
  'base/service.yaml': service,
  'base/more.yaml': more,
  'base/data.txt': 'line 1\nline 2\n',
  'base/long.txt': 'A long text that does not fit into one line of base64 letters, so that it is written in several.\n',
  'base/more.env': '# variables\nONE=1\n\n  TWO=a=b\n',
  'base/kustomization.yaml': `resources: [web.yaml, account.yaml, service.yaml, more.yaml]\n${generators}`,
};
const overlay = (name: string, kustomization: string, files: Readonly<Record<string, string>> = {}): KustomizationCase => ({
  name,
  directory: 'overlay',
  files: { ...base, 'overlay/kustomization.yaml': `resources: [../base]\n${kustomization}`, ...files },
});

/** Kustomizations that the stock tool of any release builds, too. */
export const kustomizations: readonly KustomizationCase[] = [
  { name: 'resources, generators and references', files: base, directory: 'base' },
  overlay('prefix, suffix and namespace', 'namePrefix: a-\nnameSuffix: -z\nnamespace: team\n'),
  overlay('prefixes of two levels', '', {
    'overlay/kustomization.yaml': 'resources: [../middle]\nnamePrefix: outer-\n',
    'middle/kustomization.yaml': 'resources: [../base]\nnamePrefix: inner-\nnameSuffix: -end\n',
  }),
  overlay(
    'labels and annotations',
    `commonAnnotations: {note: "yes"}
commonLabels: {team: a}
labels:
- pairs: {part: one}
- pairs: {chosen: two}
  includeSelectors: true
- pairs: {inner: three}
  fields: [{path: spec/template/metadata/labels, kind: Deployment}]
`,
  ),
  overlay(
    'strategic patches',
    `patchesStrategicMerge:
- patch.yaml
- |-
  apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {type: NodePort, ports: [{port: 81, name: other}]}
- |-
  apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  $patch: delete
patches:
- path: bed.yaml
- target: {kind: Deployment|CronJob, labelSelector: app=web}
  patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any, annotations: {patched: "yes"}}
    spec: {minReadySeconds: 5}
`,
    {
      'overlay/patch.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: null
  template:
    spec:
      containers:
      - name: side
        $patch: delete
      - name: extra
        image: extra:1
      - name: main
        env:
        - {name: B, $patch: delete}
        - {name: A, value: "2"}
        - {name: D, value: new}
        ports:
        - {containerPort: 80, hostPort: 8080}
        volumeMounts:
        - {name: keys, mountPath: /etc/keys}
      volumes:
      - $patch: replace
      - {name: config, emptyDir: {}}
`,
      'overlay/bed.yaml': 'apiVersion: example.com/v1\nkind: Bed\nmetadata: {name: bed}\nspec: {rows: [{name: c, n: 3}], other: {a: 1}}\n',
    },
  ),
  overlay(
    'JSON patches',
    `patches:
- target: {group: apps, version: v1, kind: Deployment, name: we.}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 5}
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: Z, value: "26"}}
    - {op: remove, path: /spec/template/spec/initContainers}
- target: {kind: Service, annotationSelector: none=here}
  patch: '[{"op": "remove", "path": "/spec"}]'
patchesJson6902:
- target: {version: v1, kind: Service, name: web}
  path: service.json
`,
    { 'overlay/service.json': '[{"op": "add", "path": "/metadata/labels", "value": {"a~1b": "c"}}]' },
  ),
  overlay(
    'images and replicas',
    `images:
- {name: nginx, newName: example.com/nginx, newTag: "1.21"}
- {name: busybox, newTag: "1"}
- {name: "registry.example.com:5000/busybox", digest: "sha256:def"}
replicas:
- {name: web, count: 7}
`,
  ),
  overlay(
    'generators that merge and replace, and their options',
    `generatorOptions: {labels: {made: "yes"}, annotations: {by: hand}}
configMapGenerator:
- {name: settings, behavior: merge, literals: [b=2, added=3]}
- {name: fixed, literals: [a=1], options: {disableNameSuffixHash: true, immutable: true, labels: {made: "no"}}}
- {name: binary, files: [binary.bin]}
- {name: empty}
secretGenerator:
- {name: keys, behavior: replace, type: Opaque, literals: [d=4]}
`,
    { 'overlay/binary.bin': '\u00ff\u00fe' },
  ),
  overlay('components', 'components: [../component]\nnamePrefix: p-\n', {
    'component/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator: [{name: settings, behavior: merge, literals: [component=yes]}]
patches:
- target: {kind: Deployment}
  patch: '[{"op": "add", "path": "/spec/paused", "value": true}]'
`,
  }),
  overlay(
    'replacements',
    `replacements:
- source: {kind: Service, name: web, fieldPath: spec.ports.0.port}
  targets:
  - select: {kind: Deployment, name: web}
    fieldPaths: ["spec.template.spec.containers.[name=main].env.[name=A].value", spec.replicas]
- source: {kind: ServiceAccount, name: runner}
  targets:
  - select: {kind: Ingress}
    fieldPaths: ["spec.rules.*.host"]
    options: {delimiter: ".", index: 0}
  - select: {kind: Service}
    reject: [{name: other}]
    fieldPaths: ["metadata.annotations.[example.com/account]"]
    options: {create: true}
`,
  ),
  overlay(
    'vars',
    `namePrefix: p-
vars:
- {name: PORT, objref: {kind: Service, name: web, apiVersion: v1}, fieldref: {fieldPath: "spec.ports[0].port"}}
- {name: ACCOUNT, objref: {kind: ServiceAccount, name: runner, version: v1}}
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: replace, path: /spec/template/spec/containers/1/args, value: ["--port=$(PORT)", "$(ACCOUNT)", "$(OTHER) $$(PORT)"]}
    - {op: add, path: /metadata/annotations, value: {account: "of $(ACCOUNT)"}}
`,
  ),
  overlay('configurations of a custom kind', '', {
    'overlay/kustomization.yaml': 'resources: [../base, ref.yaml]\nnamePrefix: p-\nconfigurations: [config.yaml]\n',
    'overlay/config.yaml': 'nameReference:\n- kind: Bed\n  fieldSpecs: [{path: spec/bed, kind: Garden}]\n',
    'overlay/ref.yaml': 'apiVersion: example.com/v1\nkind: Garden\nmetadata: {name: garden}\nspec: {bed: bed}\n',
  }),
];
