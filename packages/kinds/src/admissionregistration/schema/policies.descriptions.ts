/** What the fields of admission policies mean. */
import type { Descriptions } from '../../description-texts.ts';

const bindingSpec = {
  policyName: 'The policy that is bound. A binding without its policy does nothing.',
  paramRef: 'The parameters that the policy has in this binding. Needs a policy with a paramKind.',
  matchResources: 'Narrows the requests of the policy further. Without rules of resources, all that the policy is for.',
};
const policySpec = {
  paramKind: 'The kind of the parameters. Bindings say which objects of it; expressions read them as params.',
  matchConstraints: 'The requests that the policy is for. At least one rule of resources is needed.',
  failurePolicy:
    'What follows if an expression fails or the policy is misconfigured: Fail refuses the request, Ignore passes the policy over.',
  matchConditions: 'Expressions that must all be true for the policy to apply; at most 64.',
};
const expression = 'An expression in CEL.';

export const policies: Descriptions = {
  'admissionregistration.ValidatingAdmissionPolicy': {
    $: 'Expressions that requests must satisfy. It does nothing without a binding.',
    spec: 'What is checked, and for which requests.',
    status: 'What the type check of the expressions found. The server fills it in.',
  },
  'admissionregistration.ValidatingAdmissionPolicySpec': {
    $: 'What a policy checks.',
    ...policySpec,
    validations: 'Expressions that must be true. There must be validations or audit annotations.',
    auditAnnotations: 'Values for the audit event of a request; at most 20.',
    variables: 'Expressions with a name, evaluated when variables.NAME is first read. Each can read those before it.',
  },
  'admissionregistration.ValidatingAdmissionPolicyStatus': {
    $: 'The state of a policy.',
    observedGeneration: 'The generation that the status is about.',
    typeChecking: 'The result of the type check; absent until it is done.',
    conditions: 'Further observations of the policy.',
  },
  'admissionregistration.TypeChecking': {
    $: 'The result of checking expressions against the types of the matched resources.',
    expressionWarnings: 'Expressions that do not fit the types.',
  },
  'admissionregistration.ExpressionWarning': {
    $: 'An expression that does not fit the types of the resources.',
    fieldRef: 'The field of the expression, such as spec.validations[0].expression.',
    warning: 'What is wrong with it, for each type.',
  },
  'admissionregistration.Validation': {
    $: 'An expression that must be true.',
    expression: 'The expression. It reads object, oldObject, request, params, namespaceObject, authorizer and variables.',
    message: 'The text of the refusal, in one line.',
    reason: 'The reason of the refusal: Invalid, Forbidden or RequestEntityTooLarge. Defaults to Invalid.',
    messageExpression: 'An expression for the text. Where it fails or gives no single line, message is used.',
  },
  'admissionregistration.AuditAnnotation': {
    $: 'A value for the audit event of a request.',
    key: 'The key, which is prefixed with the name of the policy and a slash.',
    valueExpression: 'An expression for the value. Null and empty texts leave the annotation out.',
  },
  'admissionregistration.ValidatingAdmissionPolicyBinding': {
    $: 'Puts a validating policy into effect.',
    spec: 'Which policy, where, with which parameters, and what a failed validation does.',
  },
  'admissionregistration.ValidatingAdmissionPolicyBindingSpec': {
    $: 'How a policy is put into effect.',
    ...bindingSpec,
    validationActions: 'What a failed validation does: Deny refuses the request, Warn adds a warning, Audit an audit annotation.',
  },
  'admissionregistration.MutatingAdmissionPolicy': {
    $: 'Expressions that change objects before they are stored. It does nothing without a binding.',
    spec: 'What is changed, and for which requests.',
  },
  'admissionregistration.MutatingAdmissionPolicySpec': {
    $: 'What a policy changes.',
    ...policySpec,
    variables: 'Expressions with a name, evaluated when variables.NAME is first read. Each can read those before it.',
    mutations: 'Changes, made in this order; each sees the object as those before left it.',
    reinvocationPolicy: 'Whether the policy runs once more if admission changed the object after it: Never or IfNeeded.',
  },
  'admissionregistration.MutatingAdmissionPolicyBinding': {
    $: 'Puts a mutating policy into effect.',
    spec: 'Which policy, where, and with which parameters.',
  },
  'admissionregistration.MutatingAdmissionPolicyBindingSpec': { $: 'How a policy is put into effect.', ...bindingSpec },
  'admissionregistration.Mutation': {
    $: 'A change of an object.',
    patchType: 'ApplyConfiguration or JSONPatch.',
    applyConfiguration: 'Fields to merge into the object.',
    jsonPatch: 'Operations on the object.',
  },
  'admissionregistration.ApplyConfiguration': {
    $: 'Fields that are merged into the object as server-side apply does. Atomic lists, maps and structures cannot be changed this way.',
    expression: 'An expression that makes an Object, such as Object{spec: Object.spec{replicas: 1}}.',
  },
  'admissionregistration.JSONPatch': {
    $: 'A JSON patch.',
    expression: "An expression that makes a list of operations, such as [JSONPatch{op: 'remove', path: '/spec/a'}].",
  },
  'admissionregistration.MatchCondition': {
    $: 'A condition for a request.',
    name: 'A name for messages, which is unique in the list.',
    expression: 'An expression that must be true. It reads object, oldObject, request and authorizer, in policies also params.',
  },
  'admissionregistration.MatchResources': {
    $: 'Which requests something is for. All parts must match.',
    namespaceSelector:
      'Labels of the namespace of the object, or of the object if it is a namespace. Other cluster scoped objects always match.',
    objectSelector: 'Labels that the new or the old object has.',
    resourceRules: 'Operations on resources; one must match.',
    excludeResourceRules: 'Operations on resources that are left out; they win over the others.',
    matchPolicy:
      'Exact matches only the versions that the rules name, Equivalent also other versions of the same resource, converted. Defaults to Equivalent.',
  },
  'admissionregistration.NamedRuleWithOperations': {
    $: 'Operations on resources, and the names of objects.',
    operations: 'CREATE, UPDATE, DELETE, CONNECT, or * for all. Required.',
    apiGroups: 'API groups of the resources. * means all and must stand alone. Required.',
    apiVersions: 'API versions of the resources. * means all and must stand alone. Required.',
    resources: 'Resources such as pods, pods/log or pods/*. * means all resources, */* also all subresources. Required.',
    scope: 'Cluster, Namespaced, or * for both. Defaults to *.',
    resourceNames: 'Names of the objects; empty means all.',
  },
  'admissionregistration.ParamKind': {
    $: 'A kind whose objects are parameters.',
    apiVersion: 'Group and version, such as example.com/v1.',
    kind: 'The kind.',
  },
  'admissionregistration.ParamRef': {
    $: 'The parameters of a policy, by name or by labels.',
    name: 'The name of the one parameter. Excludes selector.',
    namespace: 'The namespace of the parameters; that of the request where it is left out. Not for cluster scoped kinds.',
    selector: 'Labels of the parameters. Each one found is evaluated by itself.',
    parameterNotFoundAction: 'What follows if there is none: Deny is an error, Allow passes the binding over.',
  },
  'admissionregistration.Variable': { $: 'An expression with a name.', name: 'The name, which is an identifier.', expression },
};
