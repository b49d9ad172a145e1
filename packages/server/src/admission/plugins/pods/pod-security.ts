/** PodSecurity: enforces the pod security standards of the namespace's labels. */

import type { Pod, PodTemplateSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { invalid } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { kinds, type MakePlugin, type PluginEnv } from '../../plugin.ts';
import { isCheckedUpdate } from '../../pod-security/checked-updates.ts';
import { type Examined, examined } from '../../pod-security/checks.ts';
import { type PodSecurityConfiguration, readPodSecurity } from '../../pod-security/configuration.ts';
import { detailsText, violations } from '../../pod-security/evaluate.ts';
import { warningsForExisting } from '../../pod-security/existing-pods.ts';
import { isPrivileged, labelPrefix, type Policy, policyOf, policyText, sameLevelVersion, stricter } from '../../pod-security/policy.ts';
import type { Violation } from '../../pod-security/words.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

/** Subresources of pods that do not matter to the standards. */
const ignored = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);
const workloads = [
  'replicationcontrollers',
  'podtemplates',
  'apps/replicasets',
  'apps/deployments',
  'apps/statefulsets',
  'apps/daemonsets',
  'batch/jobs',
  'batch/cronjobs',
];

export const podSecurity: MakePlugin = (env, configuration) => {
  const evaluator = new Evaluator(env, readPodSecurity(configuration, env.identity));
  return {
    name: 'PodSecurity',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('namespaces', 'pods', ...workloads),
    validate(request) {
      const { plural } = request.served.kind;
      if (plural === 'namespaces') return evaluator.namespace(request);
      if (plural === 'pods') evaluator.pod(request);
      else evaluator.workload(request);
    },
  };
};

class Evaluator {
  private readonly env: PluginEnv;
  private readonly configuration: PodSecurityConfiguration;
  private readonly prefix: string;
  private readonly namespaces: LiveView;
  private readonly pods: LiveView<Pod>;
  /** By namespace object; a changed namespace is another object. */
  private readonly policies = new WeakMap<ApiObject, Policy>();
  private readonly evaluations: ReturnType<PluginEnv['metrics']['counter']>;

  constructor(env: PluginEnv, configuration: PodSecurityConfiguration) {
    this.env = env;
    this.configuration = configuration;
    this.prefix = labelPrefix(env.identity);
    this.namespaces = env.live('', 'namespaces');
    this.pods = env.live<Pod>('', 'pods');
    this.evaluations = env.metrics.counter({
      name: 'pod_security_evaluations_total',
      help: 'Pods and pod templates that were evaluated by a pod security standard.',
      labels: ['decision', 'mode', 'policy_level', 'policy_version', 'request_operation', 'resource', 'subresource'],
    });
  }

  /** Validates the labels of a namespace; a stricter level gets a warning about existing pods that violate it. */
  async namespace(request: AdmissionRequest): Promise<void> {
    if (request.subresource !== '') return;
    const policyAndErrors = (object: ApiObject | undefined) => {
      const errors = new FieldErrors();
      return { policy: policyOf(object?.metadata.labels, this.configuration.defaults, this.prefix, errors), errors };
    };
    const newPolicy = policyAndErrors(request.object);
    const current = request.oldObject === undefined ? undefined : policyAndErrors(request.oldObject);
    const problems = JSON.stringify(newPolicy.errors.list);
    if (!newPolicy.errors.empty && (current === undefined || JSON.stringify(current.errors.list) !== problems)) {
      const sorted = [...newPolicy.errors.list].sort((a, b) => (a.field < b.field ? -1 : 1));
      throw invalid(request.served.groupKind, request.name, sorted);
    }
    if (current === undefined) return;
    const [after, enforcedBefore] = [newPolicy.policy.enforce, current.policy.enforce];
    if (after.level === 'privileged' || sameLevelVersion(after, enforcedBefore)) return;
    if (after.version === enforcedBefore.version && !stricter(after.level, enforcedBefore.level)) return;
    if (this.configuration.namespaces.has(request.name)) return;
    await this.pods.pending?.();
    for (const text of warningsForExisting(this.pods, request.name, after, this.configuration, this.env.identity, request.served.release))
      request.warn(text);
  }

  pod(request: AdmissionRequest): void {
    if (ignored.has(request.subresource) || this.exempt(request)) return;
    const policy = this.policy(request);
    if (isPrivileged(policy, 'enforce', 'audit', 'warn')) return;
    const pod = request.object as unknown as Pod;
    if (request.operation === 'UPDATE' && !isCheckedUpdate(pod, request.oldObject as unknown as Pod, this.env.identity)) return;
    this.evaluate(request, policy, pod, true);
  }

  /** Templates are checked when they are written: the pods that a controller cannot create are easily overlooked. */
  workload(request: AdmissionRequest): void {
    if (request.subresource !== '' || this.exempt(request)) return;
    const policy = this.policy(request);
    if (isPrivileged(policy, 'audit', 'warn')) return;
    const template = templateOf(request.object);
    if (template?.spec !== undefined) this.evaluate(request, policy, template, false);
  }

  private policy({ namespace }: AdmissionRequest): Policy {
    const namespaceObject = this.namespaces.get('', namespace);
    if (namespaceObject === undefined) return this.configuration.defaults;
    let policy = this.policies.get(namespaceObject);
    if (policy === undefined) {
      policy = policyOf(namespaceObject.metadata.labels, this.configuration.defaults, this.prefix);
      this.policies.set(namespaceObject, policy);
    }
    return policy;
  }

  private exempt(request: AdmissionRequest): boolean {
    const by = this.configuration.namespaces.has(request.namespace)
      ? 'namespace'
      : this.configuration.usernames.has(request.user.name)
        ? 'user'
        : undefined;
    if (by !== undefined) request.annotate(`${this.prefix}exempt`, by);
    return by !== undefined;
  }

  private evaluate(request: AdmissionRequest, policy: Policy, pod: Pick<Pod, 'metadata' | 'spec'>, enforced: boolean): void {
    if (this.configuration.runtimeClasses.has(pod.spec.runtimeClassName ?? '')) {
      request.annotate(`${this.prefix}exempt`, 'runtimeClass');
      return;
    }
    const subject = examined(pod, this.env.identity, request.served.release);
    const refused = enforced ? this.violationsOf(request, policy, 'enforce', subject) : [];
    if (enforced) request.annotate(`${this.prefix}enforce-policy`, policyText(policy.enforce));
    const audited = this.violationsOf(request, policy, 'audit', subject);
    if (audited.length > 0)
      request.annotate(
        `${this.prefix}audit-violations`,
        `would violate PodSecurity ${JSON.stringify(policyText(policy.audit))}: ${detailsText(audited)}`,
      );
    if (refused.length > 0)
      throw refusal(request, `violates PodSecurity ${JSON.stringify(policyText(policy.enforce))}: ${detailsText(refused)}`);
    const warned = this.violationsOf(request, policy, 'warn', subject);
    if (warned.length > 0) request.warn(`would violate PodSecurity ${JSON.stringify(policyText(policy.warn))}: ${detailsText(warned)}`);
  }

  private violationsOf(request: AdmissionRequest, policy: Policy, mode: keyof Policy, subject: Examined): Violation[] {
    const { level, version } = policy[mode];
    if (level === 'privileged') return [];
    const foundViolations = violations(policy[mode], subject);
    const release = version === 'latest' ? version : `v1.${version}`;
    const resource = request.served.kind.plural === 'pods' ? 'pod' : 'controller';
    this.evaluations
      .with(
        foundViolations.length === 0 ? 'allow' : 'deny',
        mode,
        level,
        release,
        request.operation.toLowerCase(),
        resource,
        request.subresource,
      )
      .inc();
    return foundViolations;
  }
}

function templateOf(object: ApiObject | undefined): PodTemplateSpec | undefined {
  const { spec, template } = (object ?? {}) as {
    spec?: { template?: PodTemplateSpec; jobTemplate?: { spec?: { template?: PodTemplateSpec } } };
    template?: PodTemplateSpec;
  };
  return spec?.jobTemplate?.spec?.template ?? spec?.template ?? template;
}
