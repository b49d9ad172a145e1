/** The expressions of a validating policy, compiled, and what they find. */
import type { Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { ValidatingAdmissionPolicy, ValidatingSpec } from '../admissionregistration/schema/policies.ts';
import { AdmissionCompiler, results } from './admission-compiler.ts';
import { AdmissionEvaluation, type CompiledExpression, type CompiledVariable, OutOfBudget, POLICY_COST } from './admission-evaluation.ts';
import type { AdmissionValues } from './admission-values.ts';
import { compiledVariables } from './compiled-variables.ts';

/** Longest message that an expression makes, in bytes. */
const MAX_MESSAGE_BYTES = 5 * 1024;

interface Validation extends CompiledExpression {
  readonly message: string;
  readonly messageExpression: CompiledExpression | undefined;
  readonly reason: string;
}
interface Annotation extends CompiledExpression {
  readonly key: string;
}

/** A validation that is false, or that could not be evaluated. */
export interface Finding {
  /** Index of the validation; 0 where all of them failed together. */
  readonly index: number;
  readonly message: string;
  /** Reason of the Status; empty where none is given. */
  readonly reason: string;
  /** It could not be evaluated: the failure policy decides. */
  readonly isFault: boolean;
}
export type AnnotationResult = { readonly key: string; readonly value: string } | { readonly fault: string };
export interface CheckResult {
  readonly findings: readonly Finding[];
  readonly annotations: readonly AnnotationResult[];
}

export class PolicyChecks {
  private readonly variables: readonly CompiledVariable[];
  private readonly validations: readonly Validation[];
  private readonly annotations: readonly Annotation[];

  private constructor(variables: readonly CompiledVariable[], validations: readonly Validation[], annotations: readonly Annotation[]) {
    this.variables = variables;
    this.validations = validations;
    this.annotations = annotations;
  }

  static *compiled({ spec }: ValidatingAdmissionPolicy, release: ApiRelease): Work<PolicyChecks> {
    const compiler = new AdmissionCompiler(release, 'policy', { params: spec.paramKind !== undefined, authorizer: true });
    const variables = yield* compiledVariables(spec.variables, compiler);
    const validations: Validation[] = [];
    for (const validation of spec.validations ?? []) {
      yield;
      validations.push(compiledValidation(validation, compiler));
    }
    const annotations: Annotation[] = [];
    for (const { key, valueExpression } of spec.auditAnnotations ?? []) {
      yield;
      const source = valueExpression.trim();
      annotations.push({ key, source, compiled: compiler.compile(source, results.textOrNull) });
    }
    return new PolicyChecks(variables, validations, annotations);
  }

  *check(values: AdmissionValues): Work<CheckResult> {
    const evaluation = AdmissionEvaluation.of(values, this.variables, POLICY_COST);
    try {
      const findings = yield* this.findings(evaluation);
      return { findings, annotations: yield* this.annotationResults(evaluation) };
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { findings: [{ index: 0, message: error.message, reason: '', isFault: true }], annotations: [] };
    }
  }

  private *findings(evaluation: AdmissionEvaluation): Work<Finding[]> {
    const findings: Finding[] = [];
    const failures: [number, Validation][] = [];
    for (const [index, validation] of this.validations.entries()) {
      yield;
      const outcome = yield* evaluation.run(validation);
      if (outcome.fault !== undefined) findings.push({ index, message: outcome.fault, reason: '', isFault: true });
      else if (outcome.value !== true) failures.push([index, validation]);
    }
    const messages = evaluation.withoutAuthorizer();
    for (const [index, validation] of failures)
      findings.push({ index, message: yield* messageOf(validation, messages), reason: validation.reason, isFault: false });
    return findings.sort((a, b) => a.index - b.index);
  }

  private *annotationResults(evaluation: AdmissionEvaluation): Work<AnnotationResult[]> {
    const found: AnnotationResult[] = [];
    for (const annotation of this.annotations) {
      yield;
      const outcome = yield* evaluation.run(annotation);
      if (outcome.fault !== undefined) found.push({ fault: outcome.fault });
      else if (typeof outcome.value === 'string') {
        const value = outcome.value.trim();
        if (value !== '') found.push({ key: annotation.key, value });
      }
    }
    return found;
  }
}

type ValidationSource = NonNullable<ValidatingSpec['validations']>[number];

function compiledValidation(
  { expression, message = '', messageExpression = '', reason = '' }: ValidationSource,
  compiler: AdmissionCompiler,
): Validation {
  return {
    source: expression,
    compiled: compiler.compile(expression, results.bool),
    message,
    messageExpression:
      messageExpression === ''
        ? undefined
        : { source: messageExpression, compiled: compiler.compile(messageExpression, results.text, { authorizer: false }) },
    reason,
  };
}

/** The message of the expression, if it gives one that can be shown; else that of the policy; else the expression that failed. */
function* messageOf({ source, message, messageExpression }: Validation, evaluation: AdmissionEvaluation): Work<string> {
  if (messageExpression !== undefined) {
    const outcome = yield* evaluation.run(messageExpression);
    if (outcome.fault === undefined && typeof outcome.value === 'string') {
      const text = outcome.value.trim();
      if (text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES && !text.includes('\n')) return text;
    }
  }
  return message === '' ? `failed expression: ${source.trim()}` : message.trim();
}
