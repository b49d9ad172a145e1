/** One rule, compiled for the type of the value at its place. */
import { CelError, type CelType, compile, type Environment, type Program } from '@plat-dev/cel';
import type { JSONSchemaProps, ValidationRule } from '../schema/json-schema.ts';
import { normalFieldPath } from './field-path.ts';

/** The value at the place of a rule, and its old value in an update. */
const SELF = 'self';
const OLD_SELF = 'oldSelf';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined where the expression does not compile. */
  readonly program: Program | undefined;
  readonly fault: string | undefined;
  /** Uses `oldSelf`: it runs only if there is an old value. */
  readonly transition: boolean;
  /** Runs without an old value too: `oldSelf` is an optional. */
  readonly optionalOld: boolean;
  readonly message: Program | undefined;
  readonly messageFault: string | undefined;
  /** Below the place of the rule, in the form of errors. */
  readonly field: string;
}

/** What the expressions of a rule may use. */
export interface RuleUse {
  readonly rule: Environment;
  readonly message: Environment;
}

export function compileRule(rule: ValidationRule, schema: JSONSchemaProps, type: CelType, use: RuleUse): CompiledRule {
  const optionalOld = rule.optionalOldSelf === true;
  const variables = { [SELF]: type, [OLD_SELF]: optionalOld ? ({ kind: 'optional', of: type } as const) : type };
  const main = compiled(rule.rule, variables, use.rule, 'bool', '', 'cel expression must evaluate to a bool');
  const { messageExpression = '' } = rule;
  const message =
    messageExpression === ''
      ? undefined
      : compiled(messageExpression, variables, use.message, 'string', 'messageExpression ', 'messageExpression must evaluate to a string');
  return {
    rule,
    program: main.program,
    fault: main.fault,
    transition: main.program?.variables.has(OLD_SELF) === true,
    optionalOld,
    message: message?.program,
    messageFault: message?.fault,
    field: rule.fieldPath === undefined ? '' : (normalFieldPath(rule.fieldPath, schema) ?? ''),
  };
}

interface Compiled {
  readonly program: Program | undefined;
  readonly fault: string | undefined;
}

function compiled(
  source: string,
  variables: Readonly<Record<string, CelType>>,
  environment: Environment,
  expectedType: string,
  what: string,
  otherType: string,
): Compiled {
  try {
    const program = compile(source, variables, { environment });
    return program.type.kind === expectedType ? { program, fault: undefined } : { program: undefined, fault: otherType };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { program: undefined, fault: `${what}compilation failed: ${error.message}` };
  }
}
