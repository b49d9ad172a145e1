import type { Descriptions } from '../../description-texts.ts';

const webhook = {
  name: 'Full name of the webhook, with at least three segments, such as images.policy.example.com. Unique within the configuration.',
  clientConfig: 'Where the webhook is called: by URL or through a service.',
  rules: 'Requests that the webhook is called for: those that match at least one rule. Webhook configurations themselves are never sent.',
  failurePolicy:
    'What to do if the webhook cannot be called or its answer is bad: Fail refuses the request, Ignore lets it pass. Defaults to Fail.',
  matchPolicy:
    'Exact calls the webhook only for the versions that the rules name, Equivalent also for other versions of the same resource, converted. Defaults to Equivalent.',
  namespaceSelector:
    'Call the webhook only for objects in namespaces with these labels. Empty selects all; other cluster scoped objects always match.',
  objectSelector: 'Call the webhook only if the new or the old object has these labels. Users can get around it; empty selects all.',
  sideEffects:
    'Whether calls change anything outside of the object: None or NoneOnDryRun. Dry runs that would call another webhook are refused.',
  timeoutSeconds: 'Seconds after which a call has failed, from 1 to 30. Defaults to 10.',
  admissionReviewVersions:
    'Versions of AdmissionReview that the webhook understands, the preferred first. At least one must be known to the server.',
  matchConditions: 'Expressions that must all be true for the webhook to be called; at most 64. One that fails follows the failure policy.',
};

export const admissionregistration: Descriptions = {
  'admissionregistration.MutatingWebhookConfiguration': {
    $: 'Webhooks that may change or refuse objects before they are stored.',
    webhooks: 'Webhooks and the requests that they are called for. They are called one after the other.',
  },
  'admissionregistration.ValidatingWebhookConfiguration': {
    $: 'Webhooks that may refuse objects, and do not change them.',
    webhooks: 'Webhooks and the requests that they are called for. They are called at the same time.',
  },
  'admissionregistration.MutatingWebhook': {
    $: 'A webhook that may change objects.',
    ...webhook,
    reinvocationPolicy:
      'Whether the webhook is called once more if later admission changed the object: Never or IfNeeded. It must cope with objects that it changed. Defaults to Never.',
  },
  'admissionregistration.ValidatingWebhook': {
    $: 'A webhook that may refuse objects.',
    ...webhook,
  },
  'admissionregistration.RuleWithOperations': {
    $: 'Operations on resources. A request matches if every field does.',
    operations: 'CREATE, UPDATE, DELETE, CONNECT, or * for all. Required.',
    apiGroups: 'API groups of the resources. * means all and must stand alone. Required.',
    apiVersions: 'API versions of the resources. * means all and must stand alone. Required.',
    resources: 'Resources such as pods, pods/log or pods/*. * means all resources, */* also all subresources. Required.',
    scope: 'Cluster, Namespaced, or * for both. Defaults to *.',
  },
  'admissionregistration.ServiceReference': {
    $: 'A service that serves a webhook.',
    namespace: 'Namespace of the called service.',
    name: 'Name of the called service.',
    path: 'URL path of the calls. Defaults to /.',
    port: 'Port of the service, from 1 to 65535. Defaults to 443.',
  },
  'admissionregistration.WebhookClientConfig': {
    $: 'Where a webhook is called; exactly one of url and service is set.',
    url: 'Full URL of the webhook, with https and without user, query and fragment.',
    service: 'Service of the cluster that serves the webhook.',
    caBundle: 'CA certificates in PEM, encoded in base64, that verify the webhook. Defaults to those of the system.',
  },
};
