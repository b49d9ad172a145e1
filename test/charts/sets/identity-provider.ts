import { type Chart, labels, only } from '../chart.ts';

/** An identity provider with its realm in a config map, sticky sessions and a service of another name. */
export const identityProvider: Chart = {
  name: 'identity-provider',
  manifests: (values) => {
    const { namespace, version } = values;
    const all = labels('identity-provider', values);
    return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: identity-realm
  namespace: ${namespace}
  labels:
${all}
data:
  realm.json: |
    {"realm": "main", "enabled": true, "accessTokenLifespan": ${version}00,
     "clients": [{"clientId": "web", "redirectUris": ["https://web.example.com/*"]}]}
${only(version === 2, `  theme.css: "body { color: #222 }\\n"`)}
immutable: false
---
apiVersion: v1
kind: Secret
metadata:
  name: identity-tls
  namespace: ${namespace}
  labels:
${all}
type: kubernetes.io/tls
data: {tls.crt: LS0tLS1CRUdJTg==, tls.key: LS0tLS1CRUdJTg==}
---
apiVersion: v1
kind: Service
metadata:
  name: identity
  namespace: ${namespace}
  labels:
${all}
spec:
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: ${version === 1 ? 10800 : 3600}}}
  ports: [{name: http, port: 80, targetPort: http}, {name: https, port: 443, targetPort: https}]
  selector: {app: identity}
---
apiVersion: v1
kind: Service
metadata:
  name: identity-database
  namespace: ${namespace}
  labels:
${all}
spec:
  type: ExternalName
  externalName: db-${version}.example.com
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: identity
  namespace: ${namespace}
  labels:
${all}
spec:
  serviceName: identity-headless
  replicas: ${version}
  selector: {matchLabels: {app: identity}}
  template:
    metadata: {labels: {app: identity}}
    spec:
      hostAliases: ${version === 1 ? '[{ip: 10.0.0.1, hostnames: [ldap.example.com]}]' : '[{ip: 10.0.0.1, hostnames: [ldap.example.com, ldap2.example.com]}, {ip: 10.0.0.2, hostnames: [radius.example.com]}]'}
      dnsConfig: {options: [{name: ndots, value: "2"}]}
      containers:
      - name: identity
        image: registry.example.com/identity:2${version}.0
        command: [/opt/start.sh]
        args: [start, --auto-build]
        env:
        - {name: ADMIN, value: admin}
        - {name: HTTP_PORT, value: "8080"}
${only(version === 1, `        - {name: PROXY_ADDRESS_FORWARDING, value: "true"}`)}
        - {name: JAVA_OPTS, value: "-Xmx${version}024m"}
${only(version === 2, `        - {name: KC_PROXY, value: edge}`)}
        ports: [{name: http, containerPort: 8080}, {name: https, containerPort: 8443}]
        startupProbe: {httpGet: {path: /auth/, port: http, httpHeaders: [{name: X-Probe, value: start}]}, initialDelaySeconds: 30, failureThreshold: 60}
        volumeMounts:
        - {name: realm, mountPath: /opt/import, subPath: realm.json}
      volumes:
      - {name: realm, configMap: {name: identity-realm, items: [{key: realm.json, path: realm.json}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: identity
  namespace: ${namespace}
  labels:
${all}
  annotations: {nginx.ingress.kubernetes.io/affinity: cookie${version === 2 ? ', nginx.ingress.kubernetes.io/proxy-buffer-size: 128k' : ''}}
spec:
  rules:
  - host: id.example.com
    http:
      paths:
      - {path: /auth, pathType: Prefix, backend: {service: {name: identity, port: {name: http}}}}
${only(version === 2, `      - {path: /admin, pathType: Exact, backend: {service: {name: identity, port: {name: https}}}}`)}
  tls: [{hosts: [id.example.com], secretName: identity-tls}]
${only(
  version === 1,
  `
---
apiVersion: v1
kind: Pod
metadata:
  name: identity-test
  namespace: ${namespace}
  annotations: {helm.sh/hook: test}
  labels:
${all}
spec:
  restartPolicy: Never
  containers: [{name: test, image: registry.example.com/shell:11, command: [sh, -c, "wget -qO- http://identity/auth/"]}]`,
)}
`;
  },
};
