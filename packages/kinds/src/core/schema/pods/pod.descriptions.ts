import type { Descriptions } from '../../../description-texts.ts';

export const pod: Descriptions = {
  'core.Pod': {
    $: 'A group of containers that run together on one node and share its network address and volumes. It is the smallest unit that is scheduled.',
    spec: 'Desired behavior of the pod: its containers, volumes and placement. Most of it cannot be changed once the pod exists.',
    status: 'What the node agent last reported about the pod. It may be out of date.',
  },
  'core.PodSpec': {
    $: 'Description of a pod: its containers, the volumes they mount, and where and with which rights they run.',
    volumes: 'Volumes that the containers of the pod can mount, by name.',
    initContainers:
      'Containers that run one after the other, each to its completion, before the others start. If one fails, restartPolicy decides about a retry.',
    containers:
      'Containers of the pod, of which there must be at least one. None can be added or removed later; only their image can be changed.',
    ephemeralContainers: 'Containers that were added to the running pod for debugging, through the ephemeralcontainers subresource.',
    restartPolicy: 'When terminated containers are restarted: Always, OnFailure or Never. Defaults to Always.',
    terminationGracePeriodSeconds:
      'Seconds between the request to stop and the kill of the processes that still run. 0 kills at once. Defaults to 30.',
    activeDeadlineSeconds:
      'Seconds after its start at which the pod is stopped and marked as failed. Must be positive; without it there is no limit.',
    dnsPolicy:
      'Where the pod resolves names: ClusterFirst, ClusterFirstWithHostNet, Default (as the node does) or None (dnsConfig alone). Defaults to ClusterFirst.',
    nodeSelector: 'Labels that a node must have for the pod to be scheduled on it.',
    serviceAccountName: 'Name of the service account that the pod uses for the API. Defaults to default.',
    serviceAccount: 'Deprecated alias of serviceAccountName.',
    automountServiceAccountToken:
      'Whether a token of the service account is mounted into the containers. Defaults to the setting of the service account.',
    nodeName: 'Node that the pod runs on. Schedulers fill it in; if it is set at creation, the pod is not scheduled.',
    hostNetwork: 'Use the network of the node, its addresses and ports. Defaults to false.',
    hostPID: 'Use the process namespace of the node. Defaults to false.',
    hostIPC: 'Use the IPC namespace of the node. Defaults to false.',
    shareProcessNamespace:
      'Put all containers into one process namespace, so that they see and can signal each other. Excludes hostPID. Defaults to false.',
    securityContext:
      'Security settings for all containers and for the pod as a whole. Where a container sets the same field, its value wins.',
    imagePullSecrets: 'Secrets of the same namespace that hold credentials for pulling the images.',
    hostname: 'Host name inside the pod, a DNS label. Defaults to the name of the pod.',
    subdomain: 'Subdomain of the host name: the full name becomes hostname.subdomain.namespace.svc followed by the cluster domain.',
    affinity: 'Rules that draw the pod to nodes and to other pods, or keep it away from them.',
    schedulerName: 'Name of the scheduler that places the pod. Defaults to the default scheduler.',
    tolerations: 'Taints of nodes that do not keep this pod away.',
    hostAliases: 'Additional entries of the hosts file of the pod. Not applied to pods that use the network of the node.',
    priorityClassName: 'Name of the PriorityClass that gives the pod its priority. Without it the default class applies, or priority 0.',
    priority: 'Priority of the pod: higher ones are scheduled first. Admission fills it in from the class; clients leave it empty.',
    dnsConfig: 'Name resolution settings that are merged with those of dnsPolicy.',
    readinessGates: 'Conditions, set by other controllers, that must be True before the pod counts as ready.',
    runtimeClassName: 'Name of the RuntimeClass that runs the containers. Without it the default handler of the node does.',
    enableServiceLinks: 'Put addresses of the services of the namespace into environment variables. Defaults to true.',
    preemptionPolicy:
      'Whether pods of lower priority may be evicted to make room: PreemptLowerPriority or Never. Defaults to PreemptLowerPriority.',
    overhead:
      'Resources that running the pod takes besides those of its containers. Admission fills it in from the RuntimeClass; clients leave it empty.',
    topologySpreadConstraints: 'How pods of one group are spread over zones, nodes or other domains. All constraints must be met.',
    setHostnameAsFQDN: 'Make the full domain name the host name that the kernel reports, instead of its first label. Defaults to false.',
    os: 'Operating system that the containers are built for. If it is set, fields for other systems must be empty.',
    hostUsers:
      'Use the user namespace of the node. If false, the pod gets one of its own, in which root is nobody on the node. Defaults to true.',
    schedulingGates:
      'Reasons to wait: the pod is not scheduled until the list is empty. Gates can be set at creation only, and removed later.',
    resourceClaims: 'Claims of devices that must be allocated and reserved before the pod starts. Containers name those that they use.',
    resources: 'Resources that the containers share: the total of cpu, memory and huge pages that the pod requests and is limited to.',
    hostnameOverride:
      'Host name inside the pod instead of hostname, subdomain and the name of the pod: a DNS name of at most 64 characters.',
    workloadRef: 'Workload that the pod is part of, and its place in it.',
    schedulingGroup: 'Group of pods that are scheduled together with this one.',
  },
  'core.PodSchedulingGate': {
    $: 'A reason for the scheduler to wait.',
    name: 'Name of the gate, in the form of a label key. Each gate has one controller that removes it.',
  },
  'core.PodResourceClaim': {
    $: 'A claim of devices that a pod uses.',
    name: 'Name by which containers refer to the claim: a DNS label, unique in the pod.',
    source: 'Where the claim comes from.',
    resourceClaimName: 'Name of a ResourceClaim of the same namespace. Excludes resourceClaimTemplateName.',
    resourceClaimTemplateName: 'Name of a template of the same namespace, from which a claim is made that lives as long as the pod.',
  },
  'core.ClaimSource': {
    $: 'Where a claim of a pod comes from; exactly one is set.',
    resourceClaimName: 'Name of an existing ResourceClaim of the namespace of the pod.',
    resourceClaimTemplateName: 'Name of a template of that namespace, from which a claim is made that is bound to the pod.',
  },
  'core.WorkloadReference': {
    $: 'The place of a pod in a workload.',
    name: 'Name of the Workload, in the namespace of the pod.',
    podGroup: 'Name of the group of the Workload that the pod belongs to.',
    podGroupReplicaKey: 'Which copy of the group the pod belongs to, where there are several: a DNS label.',
  },
  'core.PodSchedulingGroup': {
    $: 'A group of pods that are scheduled together.',
    podGroupName: 'Name of the PodGroup, in the namespace of the pod.',
  },
  'core.PodOS': {
    $: 'The operating system that a pod is built for.',
    name: 'Name of the operating system: linux or windows.',
  },
  'core.PodStatus': {
    $: 'The observed state of a pod, as the agent of its node reports it.',
    phase:
      'Summary of the life cycle of the pod: Pending, Running, Succeeded (all containers exited with success), Failed (at least one did not) or Unknown.',
    conditions: 'Observed conditions such as PodScheduled, Initialized, ContainersReady and Ready.',
    message: 'Why the pod is in this phase, for people to read.',
    reason: 'Why the pod is in this phase, as one CamelCase word, such as Evicted.',
    nominatedNodeName: 'Node on which pods of lower priority are being evicted for this pod. It may still be placed elsewhere.',
    observedGeneration: 'Generation of the spec that this status is about.',
    hostIP: 'IP address of the node that the pod runs on; empty until it is scheduled.',
    hostIPs: 'IP addresses of the node, at most one of each address family. The first one equals hostIP.',
    podIP: 'Primary IP address of the pod; empty until one is allocated.',
    podIPs: 'IP addresses of the pod, at most one of each address family. The first one equals podIP.',
    startTime: 'When the node agent acknowledged the pod, before it pulled the images.',
    initContainerStatuses: 'State of each init container, in the order of the spec.',
    containerStatuses: 'State of each container of the pod.',
    qosClass:
      'Quality of service that follows from requests and limits: Guaranteed, Burstable or BestEffort. BestEffort pods are evicted first.',
    ephemeralContainerStatuses: 'State of each ephemeral container that was added to the pod.',
    resize: 'State of a requested change of resources: InProgress, Deferred or Infeasible. Conditions tell it since 1.33.',
    resourceClaimStatuses: 'Claims that were made for the pod from templates.',
    extendedResourceClaimStatus: 'Claim that was made for extended resources of the pod that devices provide.',
    allocatedResources: 'Total of the resources that the node has set aside for the pod.',
    resources: 'Requests and limits that the running pod has as a whole.',
    nodeAllocatableResourceClaimStatuses: 'Resources of the node, such as cpu and memory, that claims of the pod take.',
  },
  'core.PodResourceClaimStatus': {
    $: 'The claim that was made for an entry of spec.resourceClaims.',
    name: 'Name of that entry.',
    resourceClaimName: 'Name of the claim that was made. Unset if none was needed.',
  },
  'core.PodExtendedResourceClaimStatus': {
    $: 'The claim behind the extended resources of a pod.',
    requestMappings: 'Which request of the claim stands for which extended resource of which container.',
    resourceClaimName: 'Name of the claim, in the namespace of the pod.',
  },
  'core.ContainerExtendedResourceRequest': {
    $: 'An extended resource of a container, and the request that provides it.',
    containerName: 'Name of the container that asks for the resource.',
    resourceName: 'Name of the extended resource in that container.',
    requestName: 'Name of the request in the claim.',
  },
  'core.NodeAllocatableResourceClaimStatus': {
    $: 'Resources of the node that a claim takes.',
    resourceClaimName: 'Name of the claim whose devices take the resources.',
    containers: 'Names of the containers that use the claim.',
    resources: 'Amounts that the claim takes, by the name of the resource.',
  },
  'core.PodCondition': {
    $: 'One observed aspect of the state of a pod.',
    type: 'PodScheduled, Initialized, ContainersReady, Ready, or the type of a readiness gate.',
    observedGeneration: 'Generation of the pod that the condition was set for.',
  },
  'core.PodIP': {
    $: 'An IP address of a pod.',
    ip: 'The address as text, IPv4 or IPv6.',
  },
  'core.HostIP': {
    $: 'An IP address of the node of a pod.',
    ip: 'Address of the node as text, IPv4 or IPv6.',
  },
  'core.PodTemplate': {
    $: 'A stored template from which pods can be created.',
    template: 'Metadata and spec of the pods that are created from the template.',
  },
  'core.PodTemplateSpec': {
    $: 'What a pod has when a controller creates it from this template.',
    metadata: 'Labels and annotations that the pods get. Controllers generate the names.',
    spec: 'Desired behavior of the pods.',
  },
  'core.PodReadinessGate': {
    $: 'An additional condition for the readiness of a pod.',
    conditionType: 'Type of the condition in status.conditions that must be True.',
  },
  'core.HostAlias': {
    $: 'An entry of the hosts file of a pod.',
    ip: 'IP address that the host names resolve to.',
    hostnames: 'Host names of the address.',
  },
  'core.PodDNSConfig': {
    $: 'Name resolution settings of a pod, in addition to those of its dnsPolicy.',
    nameservers: 'IP addresses of name servers, appended to those of the policy. At most 3 apply.',
    searches:
      'Domains that short names are looked up in, appended to those of the policy. At most 6, or 32 where longer lists are enabled.',
    options: 'Resolver options; they override options of the policy with the same name.',
  },
  'core.PodDNSConfigOption': {
    $: 'An option of the resolver, such as ndots.',
    name: 'Name of the option, as resolv.conf spells it. Required.',
    value: 'Value of the option, for options that take one.',
  },
};
