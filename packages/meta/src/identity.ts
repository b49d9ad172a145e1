/**
 * The names of a server. Every API group suffix, label domain, well-known namespace and media type
 * that differs between a `plat` server and one that must pass for a stock server is spelled here and nowhere else.
 */
export interface Identity {
  /** `plat` or `kubernetes`, or the name of a custom identity read from a file. */
  readonly name: string;
  /** Suffix of API groups that carry one: `networking` + `.` + `plat.dev`. */
  readonly groupSuffix: string;
  /** Domain of labels, annotations, finalizers, secret types and signers: `plat.dev/pvc-protection`. */
  readonly domain: string;
  /** The service's own word: `<word>-system`, and the name of the service that leads to this server. */
  readonly word: string;
  readonly namespaces: { readonly system: string; readonly public: string; readonly nodeLease: string };
  /** Name of the Service and Endpoints in `default` that lead to this server. */
  readonly serviceName: string;
  /** ConfigMap with the cluster's root certificates, published in every namespace. */
  readonly rootCAConfigMap: string;
  /** Binary media type. */
  readonly protobufMediaType: string;
  /** Prefix of schema extensions: `x-plat.dev-` + `list-type`. */
  readonly schemaExtensionPrefix: string;
  /** Environment variable through which a client credential plug-in receives its input. */
  readonly execInfoVariable: string;
  readonly signers: {
    readonly apiserverClient: string;
    readonly apiserverClientNodeagent: string;
    readonly nodeagentServing: string;
    readonly legacyUnknown: string;
  };
  /**
   * What signs `cluster-info`: the whole bootstrap token, as the specification has it, or its secret part alone, as stock
   * clients that verify it have it.
   */
  readonly clusterInfoKey?: 'token' | 'secret';
  /** `?dryRun` and `?dryRun=` are no dry run, as the specification has it, or refused, as by stock servers. */
  readonly emptyDryRun?: 'none' | 'refused';
  /** `named`: the kinds of `explain` are served where `--runtime-config` names them; discovery is that of stock servers otherwise. */
  readonly explainKinds?: 'served' | 'named';
  /** `none`: an update that takes fields over from an applier gets no warning, as with stock servers. */
  readonly takeoverWarnings?: 'sent' | 'none';
  /**
   * Kinds that once lived in another group, under whose name validation errors report them to stock clients up to release 1.28:
   * base group and kind → full group name.
   */
  readonly errorGroups?: Readonly<Record<string, string>>;
}

export const plat: Identity = {
  name: 'plat',
  groupSuffix: 'plat.dev',
  domain: 'plat.dev',
  word: 'plat',
  namespaces: { system: 'plat-system', public: 'plat-public', nodeLease: 'plat-node-lease' },
  serviceName: 'plat',
  rootCAConfigMap: 'plat-root-ca.crt',
  protobufMediaType: 'application/vnd.plat.protobuf',
  schemaExtensionPrefix: 'x-plat.dev-',
  execInfoVariable: 'PLAT_EXEC_INFO',
  signers: {
    apiserverClient: 'plat.dev/apiserver-client',
    apiserverClientNodeagent: 'plat.dev/apiserver-client-nodeagent',
    nodeagentServing: 'plat.dev/nodeagent-serving',
    legacyUnknown: 'plat.dev/legacy-unknown',
  },
};

export const kubernetes: Identity = {
  name: 'kubernetes',
  groupSuffix: 'k8s.io',
  domain: 'kubernetes.io',
  word: 'kubernetes',
  namespaces: { system: 'kube-system', public: 'kube-public', nodeLease: 'kube-node-lease' },
  serviceName: 'kubernetes',
  rootCAConfigMap: 'kube-root-ca.crt',
  protobufMediaType: 'application/vnd.kubernetes.protobuf',
  schemaExtensionPrefix: 'x-kubernetes-',
  execInfoVariable: 'KUBERNETES_EXEC_INFO',
  signers: {
    apiserverClient: 'kubernetes.io/kube-apiserver-client',
    apiserverClientNodeagent: 'kubernetes.io/kube-apiserver-client-kubelet',
    nodeagentServing: 'kubernetes.io/kubelet-serving',
    legacyUnknown: 'kubernetes.io/legacy-unknown',
  },
  clusterInfoKey: 'secret',
  explainKinds: 'named',
  takeoverWarnings: 'none',
  emptyDryRun: 'refused',
  errorGroups: {
    'networking/Ingress': 'extensions',
    'networking/NetworkPolicy': 'extensions',
    'policy/PodSecurityPolicy': 'extensions',
  },
};

export const identities: Readonly<Record<string, Identity>> = { plat, kubernetes };

/** Groups that carry no suffix under any identity. The core group is the empty string. */
const unsuffixed = new Set(['', 'apps', 'batch', 'autoscaling', 'extensions', 'policy']);

/** The full name of a built-in group: `networking` → `networking.plat.dev`; `apps` → `apps`. */
export function groupName(identity: Identity, base: string): string {
  return unsuffixed.has(base) ? base : `${base}.${identity.groupSuffix}`;
}

/** The other way round: `networking.plat.dev` → `networking`. Undefined for a group that is not one of the service's own. */
export function baseGroup(identity: Identity, group: string): string | undefined {
  if (unsuffixed.has(group)) return group;
  const suffix = `.${identity.groupSuffix}`;
  return group.endsWith(suffix) ? group.slice(0, -suffix.length) : undefined;
}

/**
 * What to say of a built-in group under the name of another identity; undefined for every other group. On a `plat` server:
 *
 *   networking.k8s.io → this server has the names of identity plat, …      gateway.networking.k8s.io → undefined
 */
export function otherIdentityHint(identity: Identity, group: string, isBuiltIn: (group: string) => boolean): string | undefined {
  for (const otherIdentity of Object.values(identities)) {
    if (otherIdentity.groupSuffix === identity.groupSuffix) continue;
    const base = baseGroup(otherIdentity, group);
    if (base === undefined || unsuffixed.has(base) || !isBuiltIn(groupName(identity, base))) continue;
    return `this server has the names of identity ${identity.name}, where ${group} is ${groupName(identity, base)}; for manifests with ${otherIdentity.groupSuffix} names start one with --identity ${otherIdentity.name}`;
  }
  return undefined;
}

/** The same for a client, which knows the groups that a server has, but not its identity. */
export function otherIdentityHintFor(groups: ReadonlySet<string>, group: string): string | undefined {
  for (const identity of Object.values(identities)) {
    const hint = otherIdentityHint(identity, group, (name) => groups.has(name));
    if (hint !== undefined) return hint;
  }
  return undefined;
}

/** Groups by whose names the identity of a server is known: every server has some of them. */
const namedGroups = ['authentication', 'authorization', 'rbac.authorization', 'apiregistration', 'networking', 'storage'];

/** The identity of a server by the groups that it serves, which a client knows; the stock one if it is none of the known. */
export function identityServing(groups: Iterable<string>): Identity {
  const served = new Set(groups);
  const matchingIdentity = Object.values(identities).find((identity) => namedGroups.some((base) => served.has(groupName(identity, base))));
  return matchingIdentity ?? kubernetes;
}

/** A name with a prefix, which no property that objects inherit has: labels and annotations may be looked up by it. */
export type QualifiedName = `${string}/${string}`;
/** A name in the identity's label domain: `pvc-protection` → `plat.dev/pvc-protection`, with a prefix `node.plat.dev/not-ready`. */
export function domainName(identity: Identity, name: string, prefix = ''): QualifiedName {
  return `${prefix === '' ? '' : `${prefix}.`}${identity.domain}/${name}`;
}

/** Annotations and labels of simulated nodes and their pods: `node` → `simulation.plat.dev/node`. */
export const simulationName = (identity: Identity, name: string): QualifiedName => domainName(identity, name, 'simulation');
/** The group of the kinds that configure simulated nodes: `simulation.plat.dev`. */
export const simulationGroup = (identity: Identity): string => groupName(identity, 'simulation');
/** The service that the APIService of simulated metrics named in earlier releases. There was no such Service. */
export const metricsService = (identity: Identity): { readonly namespace: string; readonly name: string } => ({
  namespace: identity.namespaces.system,
  name: 'simulated-metrics',
});
/** Without it a server refuses definitions in groups of its own domain. */
export const approvalAnnotation = (identity: Identity): `api-approved.${string}` => `api-approved.${identity.domain}`;

/** `kubelet` or `nodeagent`: what the agent of a node is called in signers and labels. */
export const nodeAgentWord = (identity: Identity): string =>
  identity.signers.nodeagentServing.slice(identity.signers.nodeagentServing.lastIndexOf('/') + 1).replace(/-serving$/, '');

/** `kube` or `plat`: what the names of things that the service puts into pods and namespaces begin with. */
export const shortWord = (identity: Identity): string => identity.namespaces.system.replace(/-system$/, '');

/** What a server calls itself in leases and their labels: `kube-apiserver`. */
export const serverComponent = (identity: Identity): string => `${shortWord(identity)}-apiserver`;
/** The config map that says since when the server notes the use of service account tokens that secrets hold. */
export const tokenTrackingConfigMap = (identity: Identity): string => `${serverComponent(identity)}-legacy-service-account-token-tracking`;
/** The label by which the leases of servers are found. */
export const componentLabel = (identity: Identity): QualifiedName => `${identity.groupSuffix}/component`;

/** The User-Agent under which the server calls webhooks for admission and conversion. */
export const webhookAgent = (identity: Identity): string => `${shortWord(identity)}-apiserver-admission`;

/** Meta groups whose Table, metadata and discovery transforms every server answers besides that of its own identity. */
export const metaGroups: readonly string[] = [groupName(plat, 'meta'), groupName(kubernetes, 'meta')];
/** The names that clients of any identity have for a group, first the server's own: for what is asked for in headers. */
export const groupsOfAll = (identity: Identity, base: string): readonly string[] =>
  [identity, plat, kubernetes].map((one) => groupName(one, base));

/** Binary media types that every server understands besides that of its own identity. */
export const protobufMediaTypes: readonly string[] = [plat.protobufMediaType, kubernetes.protobufMediaType];

/** Whether a media type is the binary one of some identity. */
export const isProtobufMediaType = (name: string): boolean => /^application\/vnd\.[\w.-]+\.protobuf$/.test(name);

/** Headers with the classification of a request. They are part of the stock API and have these names under every identity. */
export const flowHeaders = { schema: 'X-Kubernetes-Pf-Flowschema-Uid', level: 'X-Kubernetes-Pf-Prioritylevel-Uid' } as const;

const definitionFamilies = {
  api: 'api',
  machinery: 'apimachinery.pkg',
  extensions: 'apiextensions-apiserver.pkg.apis',
  aggregation: 'kube-aggregator.pkg.apis',
} as const;
export type DefinitionFamily = keyof typeof definitionFamilies;

/** `api` → `io.k8s.api` or `dev.plat.api`: what the names of OpenAPI definitions begin with. */
export function definitionPrefix(identity: Identity, family: DefinitionFamily): string {
  return `${identity.groupSuffix.split('.').reverse().join('.')}.${definitionFamilies[family]}`;
}

/**
 * Prefixes of the schema extension that names the kind of a definition or an operation. It is written under the
 * stock name too, so that a stock client can explain and check the objects of any server.
 */
export function kindExtensionPrefixes(identity: Identity): string[] {
  return [...new Set([identity.schemaExtensionPrefix, kubernetes.schemaExtensionPrefix])];
}

/**
 * How command lines mark what they applied on their own side, and the managers by which the stock one and our own let the server
 * apply. The same under every identity.
 */
export const clientSideApply = {
  managers: ['kubectl', plat.word],
  annotation: `kubectl.${kubernetes.domain}/last-applied-configuration`,
} as const;
/** Set in the template of a workload by a restart of its rollout. */
export const restartAnnotation = `kubectl.${kubernetes.domain}/restartedAt`;

/** The value of an annotation in the label domain of any identity: what wrote the object may go by another one than the server. */
export function anyIdentityAnnotation(annotations: Readonly<Record<string, string>>, name: string, prefix = ''): string | undefined {
  for (const identity of Object.values(identities)) {
    const value = annotations[domainName(identity, name, prefix)];
    if (value !== undefined) return value;
  }
  return undefined;
}
/** Annotations of a deployment that describe its rollout; they are never copied from one of its replica sets. */
export const deploymentAnnotations: ReadonlySet<string> = new Set([
  clientSideApply.annotation,
  'deprecated.deployment.rollback.to',
  ...Object.values(identities).flatMap((identity) =>
    ['revision', 'revision-history', 'desired-replicas', 'max-replicas'].map((name) => domainName(identity, name, 'deployment')),
  ),
]);
