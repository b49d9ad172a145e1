import type { Descriptions } from './description-texts.ts';

/** What all objects have, what requests and answers without an object look like, and the documents of discovery. */
export const meta: Descriptions = {
  'meta.ObjectMeta': {
    $: 'Metadata that every stored object has: its identity, its labels, its owners, and what the server records about it.',
    name: 'Name of the object, unique among objects of its kind in the namespace. Required unless generateName is set, and cannot be changed.',
    generateName:
      'Prefix of a name that the server completes with a random suffix, used only when name is empty. If the generated name is taken, the create fails.',
    namespace:
      'Namespace that the object lives in, which scopes its name. Empty for kinds that are not namespaced; it must be a DNS label and cannot be changed.',
    selfLink: 'Deprecated and no longer filled in; formerly the URL of the object.',
    uid: 'Unique identifier that the server gives every object at its creation. An object that is created again under the same name has another one.',
    resourceVersion:
      'Version of the stored object, which changes with every write. Clients compare it only for equality, and send it back in an update to detect conflicts.',
    generation: 'Number that the server increases whenever the desired state changes. Controllers report it as observedGeneration.',
    creationTimestamp:
      'CreationTimestamp is a timestamp of when the server created the object; it is set by the server and cannot be changed.',
    deletionTimestamp:
      'Time at or after which the object is removed. The server sets it on a graceful deletion; the object stays until its finalizers are empty.',
    deletionGracePeriodSeconds:
      'Seconds that a deleted object has for an orderly end; set together with deletionTimestamp, and may only be shortened.',
    labels:
      'Keys and values by which objects are organized and selected. Values have at most 63 characters: letters, digits, dashes, underscores and dots.',
    annotations: 'Keys and values for tools and people that no selector looks at. All together have at most 256 KiB.',
    ownerReferences:
      'Objects that this object depends on. When all of them are deleted, the garbage collector deletes it; at most one may be its controller.',
    finalizers:
      'Names of controllers that have work to do before the object is removed. A deleted object stays until the list is empty, and then no names may be added.',
    clusterName: 'Deprecated: formerly the name of the cluster that the object belongs to. The server ignores it.',
    managedFields: 'Which manager owns which fields and since when; the server keeps it for apply and conflict detection.',
  },
  'meta.OwnerReference': {
    $: 'An object that owns this one. It must be in the same namespace or not namespaced.',
    apiVersion: 'Group and version of the owner, such as apps/v1.',
    kind: 'Kind of the owner, such as ReplicaSet.',
    name: 'Name of the owner.',
    uid: 'UID of the owner, which distinguishes it from an earlier object of the same name.',
    controller: 'Whether the owner is the one that manages this object. At most one owner may be. Defaults to false.',
    blockOwnerDeletion:
      'Whether a foreground deletion of the owner waits until this object is deleted. Setting it requires the permission to update finalizers of the owner. Defaults to false.',
  },
  'meta.ManagedFieldsEntry': {
    $: 'The fields that one manager owns through one operation, version and subresource.',
    manager: 'Name of the manager, as the fieldManager parameter of its requests gives it.',
    operation: 'How the fields came to be owned: Apply for server-side apply, Update for everything else.',
    apiVersion: 'Group and version in which fieldsV1 names the fields.',
    time: 'When a field was last added to the set, or an owned field last changed.',
    fieldsType: 'Format of the set of fields. FieldsV1 is the only value.',
    fieldsV1: 'The owned fields, in the format that fieldsType names.',
    subresource: 'Subresource through which the fields were written, such as status; empty for the object itself.',
  },
  'meta.ListMeta': {
    $: 'Metadata of a list: the version it was read at, and how to get the next chunk.',
    selfLink: 'Deprecated and no longer filled in; formerly the URL of the list.',
    resourceVersion: 'Version of the data that the list was read at. A watch that starts from it misses no change.',
    continue:
      'Set when the list was limited and more objects exist: send it as the continue parameter of the next request. It expires after some minutes.',
    remainingItemCount: 'How many objects follow in later chunks, if known. It is not set for requests with a label or field selector.',
    shardInfo: 'Which part of the objects the list has, where a request asked for a part of them.',
  },
  'meta.ShardInfo': {
    $: 'The part of all objects that a list has.',
    selector: 'The selector by which the part was chosen.',
  },
  'meta.LabelSelector': {
    $: 'Selects objects by their labels. All requirements must be met; an empty selector matches every object, a missing one matches none.',
    matchLabels:
      'Labels with the exact value that each must have. Each entry equals a requirement with the operator In and that one value.',
    matchExpressions: 'Requirements on labels. They must all be met, together with matchLabels.',
  },
  'meta.LabelSelectorRequirement': {
    $: 'One requirement on a label: a key, an operator, and the values it compares with.',
    key: 'Key of the label that the requirement is about.',
    operator: 'In and NotIn compare the value of the label with values; Exists and DoesNotExist look only for the key.',
    values: 'Values for In and NotIn, of which there must be at least one. Must be empty for Exists and DoesNotExist.',
  },
  'meta.Condition': {
    $: 'One observed aspect of the state of an object.',
    type: 'Type of the condition in CamelCase, unique within the list. It may carry a domain as a prefix, and has at most 316 characters.',
    observedGeneration:
      'Value of metadata.generation that the condition is based on. If it is older than the present one, the condition is out of date.',
    reason: 'Why the status last changed, as one CamelCase word for programs. Required, with at most 1024 characters.',
    message: 'Details about the last change for people to read; may be empty, and has at most 32768 characters.',
  },
  'meta.Status': {
    $: 'The answer to a request that returns no object: an error, or the confirmation of a deletion.',
    metadata: 'Metadata of the answer, in the form of that of lists.',
    status: 'Outcome of the request: Success or Failure.',
    message: 'What happened, for people to read.',
    reason:
      'Why the request failed, as one CamelCase word for programs, such as NotFound or Conflict. It distinguishes errors with the same code.',
    details: 'The object that the answer is about, and the individual causes of a failure.',
    code: 'Suggested HTTP status code of the answer; 0 if it is not set.',
  },
  'meta.StatusDetails': {
    $: 'The object that a Status is about, and the causes of a failure.',
    name: 'Name of the object that the request was about, if it named one.',
    group: 'API group of that object; empty for the core group.',
    kind: 'Kind or resource that the request was about.',
    uid: 'UID of that object, if it is a single known one.',
    causes: 'Each individual problem, such as every invalid field of an object.',
    retryAfterSeconds: 'Seconds to wait before the request is retried. Only set when a retry can succeed.',
  },
  'meta.StatusCause': {
    $: 'One problem that made a request fail.',
    reason: 'Type of the problem in one word for programs, such as FieldValueRequired.',
    message: 'Details of the problem, for people to read.',
    field: 'Path of the field that caused it, such as spec.containers[0].name, if it was a field.',
  },
  'meta.WatchEvent': {
    $: 'One event of a watch.',
    type: 'ADDED, MODIFIED or DELETED for a change; BOOKMARK for the version that the watch has reached; ERROR for its failure.',
    object: 'The object after the change, or its last state if it was deleted; for BOOKMARK only its resourceVersion, for ERROR a Status.',
  },
  'meta.DeleteOptions': {
    $: 'Options of a deletion.',
    gracePeriodSeconds: 'Seconds that the object has for an orderly end. 0 deletes at once; without it the default of the kind applies.',
    preconditions: 'What the object must be for the deletion to take place; otherwise the request fails with a conflict.',
    orphanDependents:
      'Deprecated, use propagationPolicy: whether dependents stay behind without their owner. Only one of the two may be set.',
    propagationPolicy:
      'What happens to dependents: Orphan leaves them, Background deletes them after the object, Foreground before it. The default depends on the kind and its finalizers.',
    dryRun: 'With the single value All the request passes every step, and nothing is persisted.',
    ignoreStoreReadErrorWithClusterBreakingPotential:
      'Whether to delete an object that can no longer be read from the store. Its finalizers are not run and preconditions are not checked, so that dependents may stay behind.',
  },
  'meta.Preconditions': {
    $: 'What must hold for an object before the server changes it.',
    uid: 'UID that the object must have.',
    resourceVersion: 'Version that the object must have.',
  },
  'meta.APIVersions': {
    $: 'The versions of the core group, under the path /api.',
    versions: 'Names of the served versions of the core group.',
    serverAddressByClientCIDRs: 'Addresses under which clients reach the server, by the network that they are in.',
  },
  'meta.APIGroupList': {
    $: 'All API groups except the core group, under the path /apis.',
    groups: 'The API groups with their versions, in the order of their priority.',
  },
  'meta.APIGroup': {
    $: 'An API group with its served versions.',
    name: 'Full name of the group; the core group is not listed.',
    versions: 'Versions of the group that the server serves, the preferred one first.',
    preferredVersion: 'Version that clients should use if they have no reason to use another.',
    serverAddressByClientCIDRs: 'Addresses under which clients reach the group, by the network that they are in.',
  },
  'meta.GroupVersionForDiscovery': {
    $: 'A version of an API group.',
    groupVersion: 'Group and version in the form group/version, as objects have it in apiVersion.',
    version: 'The version without its group, such as v1.',
  },
  'meta.ServerAddressByClientCIDR': {
    $: 'The address that clients of one network should use for the server.',
    clientCIDR: 'Network of the clients, such as 10.0.0.0/8. The most specific network that contains a client applies.',
    serverAddress: 'Host name or IP address of the server, with a port if it is not the default.',
  },
  'meta.APIResourceList': {
    $: 'The resources of one group version, and the verbs that they support.',
    groupVersion: 'Group and version that the resources belong to, such as apps/v1.',
    resources: 'Every resource and subresource of the group version.',
  },
  'meta.APIResource': {
    $: 'A resource or subresource: its names, its scope and its verbs.',
    name: 'Plural name in paths, with the subresource after a slash: pods, pods/log.',
    singularName: 'Name of one object of the resource, for messages and commands; empty for subresources.',
    namespaced: 'Whether objects of the resource live in namespaces.',
    group: 'API group of the kind, if it differs from that of the list, as for Scale.',
    version: 'Version of the kind, if it differs from that of the list.',
    kind: 'Kind of the objects that the resource takes and returns.',
    verbs: 'Verbs that the resource supports: get, list, watch, create, update, patch, delete, deletecollection.',
    shortNames: 'Abbreviations that command line tools accept, such as po for pods.',
    categories: 'Groups of resources that this one belongs to, such as all.',
    storageVersionHash:
      'Hash that changes when objects of the resource are stored in another version. Clients may only compare it for equality.',
  },
  'meta.PartialObjectMetadata': { $: 'An object of any kind, reduced to its metadata.' },
  'meta.PartialObjectMetadataList': { $: 'Objects of any kind, reduced to their metadata.', items: 'List of the metadata of each object.' },
};
