/** What messages and fields mean that only versions have which are not served by default. */
import type { Descriptions } from './description-texts.ts';

export const olderDescriptions: Descriptions = {
  'apiextensions.CustomResourceDefinitionSpec': {
    version: 'Name of the first version. Use versions instead.',
    validation: 'Schema of all versions, where they have none of their own.',
    subresources: 'Subresources of all versions, where they have none of their own.',
    additionalPrinterColumns: 'Columns of the tables of all versions, where they have none of their own.',
  },
  'apiextensions.CustomResourceColumnDefinition': {
    JSONPath: 'Path of the value within the object, in the notation of jsonPath of version 1.',
  },
  'apiextensions.CustomResourceConversion': {
    webhookClientConfig: 'How to call the webhook. Required for the strategy Webhook, and only allowed with it.',
    conversionReviewVersions: 'Versions of ConversionReview that the webhook understands, most preferred first. Defaults to v1beta1.',
  },
  'apps.DeploymentSpec': {
    rollbackTo: 'Revision to roll back to. The controller clears it when it has done so.',
  },
  'apps.DeploymentRollback': {
    $: 'Rolls a deployment back to an earlier revision.',
    name: 'Name of the deployment.',
    updatedAnnotations: 'Annotations to add to the deployment.',
    rollbackTo: 'Revision to roll back to.',
  },
  'apps.RollbackConfig': {
    $: 'Where a deployment is rolled back to.',
    revision: 'Number of the revision; 0 means the one before the present one.',
  },
  'extensions.DaemonSetSpec': {
    templateGeneration: 'Counts the changes of the template. The server fills it in.',
  },
  'apps.Scale': {
    $: 'The number of replicas of a workload, as the scale subresource of older versions shows and changes it.',
    spec: 'Desired number of replicas of the workload.',
    status: 'Observed number of replicas of the workload, and how its pods are found.',
  },
  'apps.ScaleSpec': { $: 'The desired scale of a workload.', replicas: 'Number of replicas to run; 0 is allowed.' },
  'apps.ScaleStatus': {
    $: 'The observed scale of a workload.',
    replicas: 'Number of replicas that were last observed.',
    selector: 'Labels of the pods that count, where the selector of the workload has nothing but labels.',
    targetSelector: 'Label selector of the pods that count, in the text form of queries.',
  },
  'authorization.SubjectAccessReviewSpec': {
    group: 'Groups of the user to check. The field is called groups in version 1.',
  },
  'networking.IngressSpec': {
    backend: 'Backend of requests that no rule matches. The field is called defaultBackend in version 1.',
  },
  'networking.IngressBackend': {
    serviceName: 'Name of a service in the namespace of the ingress.',
    servicePort: 'Port of the service, by number or by name.',
  },
  'node.RuntimeClass': {
    spec: 'The configuration of the class.',
  },
  'node.RuntimeClassSpec': {
    $: 'A container runtime configuration.',
    runtimeHandler: 'Name of the configuration in the container runtime of the nodes, a DNS label. Cannot be changed.',
    overhead: 'Resources that a pod of this class takes besides those of its containers. Admission adds them to the pod.',
    scheduling: 'Which nodes support the class. Without it all nodes are assumed to.',
  },
  'rbac.Subject': {
    apiVersion: 'API group and version of the subject: v1 for service accounts. Filled in by default.',
  },
};
