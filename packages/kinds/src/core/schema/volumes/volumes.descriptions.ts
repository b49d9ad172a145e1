import type { Descriptions } from '../../../description-texts.ts';
import { systems } from './disks.descriptions.ts';

const { local: _, ...ofPods } = systems;
const defaultMode = 'Permission bits of the created files, in octal from 0000 to 0777; JSON takes them in decimal. Defaults to 0644.';
const items = (source: string) =>
  `Entries to project, each into a file; without it every entry becomes a file with its key as the name. Entries that the ${source} does not have are an error unless it is optional.`;

export const volumes: Descriptions = {
  'core.Volume': {
    $: 'A volume that containers of the pod can mount. Exactly one source is set.',
    name: 'Name by which containers mount the volume: a DNS label, unique within the pod.',
    ...ofPods,
    emptyDir: 'A directory that starts empty and is deleted with the pod.',
    gitRepo: 'A checkout of a git repository. Deprecated: let an init container clone it into an emptyDir.',
    secret: 'Entries of a Secret, as files.',
    persistentVolumeClaim: 'The persistent volume that a claim of the same namespace is bound to.',
    downwardAPI: 'Fields of the pod, as files.',
    configMap: 'Entries of a ConfigMap, as files.',
    projected: 'Several sources in one directory: Secrets, ConfigMaps, fields of the pod and service account tokens.',
    ephemeral: 'A volume of a storage class, with a claim that is created for the pod and deleted with it.',
    csi: 'An ephemeral volume that a CSI driver creates for the pod.',
    image: 'The files of an image or artifact of a registry, read-only.',
  },
  'core.ImageVolumeSource': {
    $: 'The files of an image or artifact of a registry.',
    reference: 'Image or artifact to mount, in the form of the images of containers. Workload templates may leave it out.',
    pullPolicy:
      'When the artifact is pulled: Always, IfNotPresent or Never. Defaults to Always for the tag latest, and to IfNotPresent otherwise.',
  },
  'core.ConfigMapVolumeSource': {
    $: 'Entries of a ConfigMap as files of a volume.',
    name: 'Name of the ConfigMap, in the namespace of the pod.',
    items: items('ConfigMap'),
    defaultMode,
    optional: 'Whether the ConfigMap or its keys may be missing. Defaults to false: the pod waits for them.',
  },
  'core.ConfigMapProjection': {
    $: 'Entries of a ConfigMap as part of a projected volume.',
    name: 'Name of the ConfigMap, in the namespace of the pod.',
    items: items('ConfigMap'),
    optional: 'Whether the ConfigMap or its keys may be missing. Defaults to false.',
  },
  'core.SecretVolumeSource': {
    $: 'Entries of a Secret as files of a volume.',
    secretName: 'Name of the Secret, in the namespace of the pod.',
    items: items('Secret'),
    defaultMode,
    optional: 'Whether the Secret or its keys may be missing. Defaults to false: the pod waits for them.',
  },
  'core.SecretProjection': {
    $: 'Entries of a Secret as part of a projected volume.',
    name: 'Name of the Secret, in the namespace of the pod.',
    items: items('Secret'),
    optional: 'Whether the Secret or its keys may be missing. Defaults to false.',
  },
  'core.DownwardAPIVolumeSource': {
    $: 'Fields of the pod as files of a volume.',
    items: 'Files to create, each with the field that it holds.',
    defaultMode,
  },
  'core.DownwardAPIProjection': {
    $: 'Fields of the pod as part of a projected volume.',
    items: 'Files to create, each with the field that it holds.',
  },
  'core.DownwardAPIVolumeFile': {
    $: 'A file that holds a field of the pod; exactly one of fieldRef and resourceFieldRef is set.',
    path: 'Path of the file, relative to the volume. It must not be absolute nor contain "..".',
    fieldRef: 'Field of the pod to write: its name, namespace, UID, labels or annotations.',
    resourceFieldRef: 'Request or limit of a container to write.',
    mode: 'Permission bits of the file, in octal from 0000 to 0777; JSON takes them in decimal. Defaults to the mode of the volume.',
  },
  'core.ServiceAccountTokenProjection': {
    $: 'A token of the service account of the pod, as a file. The node renews it before it expires.',
    audience: 'Audience that the token is meant for. Defaults to the API server.',
    expirationSeconds: 'Requested lifetime of the token, at least 600. Defaults to 3600.',
    path: 'Path of the file, relative to the volume.',
  },
  'core.VolumeProjection': {
    $: 'One source of a projected volume; exactly one is set.',
    secret: 'Entries of a Secret to project.',
    downwardAPI: 'Fields of the pod to project.',
    configMap: 'Entries of a ConfigMap to project.',
    serviceAccountToken: 'Token of the service account to project.',
    clusterTrustBundle: 'Certificates of authorities to project, from ClusterTrustBundle objects.',
    podCertificate: 'Key and certificate of the pod to project. The node requests and renews them.',
  },
  'core.ClusterTrustBundleProjection': {
    $: 'Certificates of authorities as a file, without duplicates and in no certain order. The node keeps it up to date.',
    name: 'Name of one ClusterTrustBundle. Excludes signerName and labelSelector.',
    signerName: 'Signer whose bundles are taken together. Excludes name.',
    labelSelector: 'Selects bundles of the signer by their labels. Unset selects none, an empty selector all.',
    optional: 'Start the pod even if there is no such bundle; the file is then empty. Defaults to false.',
    path: 'Path of the file that holds the certificates, relative to the volume.',
  },
  'core.PodCertificateProjection': {
    $: 'A private key and a certificate for it, as files. The node makes the key and requests the certificate.',
    signerName: 'Signer that is asked for the certificate.',
    keyType: 'Type of the key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.',
    maxExpirationSeconds:
      'Longest lifetime of the certificate, from 3600 to 7862400. The signer may choose a shorter one. Defaults to 86400.',
    credentialBundlePath: 'Path of one file that holds the key and the certificates, relative to the volume.',
    keyPath: 'Path of a file that holds the key alone, relative to the volume.',
    certificateChainPath: 'Path of a file that holds the certificates alone, relative to the volume.',
    userAnnotations: 'Texts for the signer, by keys with a domain. The signer must not trust them.',
  },
  'core.ProjectedVolumeSource': {
    $: 'Several sources in the directory of one volume.',
    sources: 'Sources to project. Their paths must not collide.',
    defaultMode,
  },
  'core.EmptyDirVolumeSource': {
    $: 'A directory that starts empty and is deleted with the pod.',
    medium: 'What the directory is kept on: empty for the disk of the node, Memory for a tmpfs, HugePages for huge pages.',
    sizeLimit:
      'Most that the directory may hold before the pod is evicted. For Memory the memory limits of the pod apply as well. No limit by default.',
  },
  'core.EphemeralVolumeSource': {
    $: 'A volume whose claim lives as long as the pod.',
    volumeClaimTemplate: 'What the claim is created from. It is named after the pod and the volume, and owned by the pod. Required.',
  },
  'core.GitRepoVolumeSource': {
    $: 'A checkout of a git repository. Deprecated.',
    repository: 'URL of the git repository.',
    revision: 'Commit hash to check out. Defaults to the head of the repository.',
    directory:
      'Directory to clone into, without "..". "." means the root of the volume; by default a directory with the name of the repository.',
  },
  'core.PersistentVolumeClaimVolumeSource': {
    $: 'The volume that a claim is bound to.',
    claimName: 'Name of a claim in the namespace of the pod.',
    readOnly: 'Mount the volume read-only in every container. Defaults to false.',
  },
};
