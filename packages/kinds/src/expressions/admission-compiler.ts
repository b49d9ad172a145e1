/**
 * Compiles the expressions of policies and of match conditions.
 *
 *   const compiler = new AdmissionCompiler('1.36', 'policy', { params: false, authorizer: true });
 *   compiler.addVariable('limit', 'int(object.data.limit)');
 *   compiler.compile('size(object.data) < variables.limit', results.bool).program    the program
 *   compiler.compile('variables.none', results.bool).fault                           what is wrong with it
 */
import { CelError, type CelType, compile, DYN, type Field, type ObjectType, type Program, showType, type Variables } from '@plat-dev/cel';
import { own } from '@plat-dev/lib/own';
import type { ApiRelease } from '@plat-dev/lib/version';
import { type AdmissionVariables, admissionVariables } from './admission-types.ts';
import { type ExpressionUse, environmentsFor } from './environments.ts';

/** Before what is wrong with an expression that does not compile. */
export const COMPILATION_FAILED = 'compilation failed: ';

export type Compiled = { readonly program: Program; readonly fault?: undefined } | { readonly program?: undefined; readonly fault: string };

/** The types that a result may have, by their names; empty: any. */
export const results = {
  any: [],
  bool: ['bool'],
  text: ['string'],
  textOrNull: ['string', 'null_type'],
  object: ['Object'],
  patches: ['list(JSONPatch)'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Results = (typeof results)[keyof typeof results];

const nameOf = (type: CelType): string => (type.kind === 'null' ? 'null_type' : showType(type));

export class AdmissionCompiler {
  private readonly release: ApiRelease;
  private readonly use: ExpressionUse;
  private readonly available: AdmissionVariables;
  private readonly variableTypes = new Map<string, Field>();

  constructor(release: ApiRelease, use: ExpressionUse, available: AdmissionVariables) {
    this.release = release;
    this.use = use;
    this.available = available;
  }

  /** Those after it may use it. */
  addVariable(name: string, expression: string, isStored = true): Compiled {
    const compiled = this.compile(expression, results.any, { isStored });
    this.variableTypes.set(name, { property: name, type: compiled.program?.type ?? DYN });
    return compiled;
  }

  /** `isStored`: it may use what new expressions may not yet. */
  compile(
    expression: string,
    expected: Results,
    { isStored = true, authorizer = this.available.authorizer }: { readonly isStored?: boolean; readonly authorizer?: boolean } = {},
  ): Compiled {
    const { added, stored } = environmentsFor(this.release, this.use);
    try {
      const program = compile(expression, this.variables(authorizer), { environment: isStored ? stored : added });
      const name = nameOf(program.type);
      if (expected.length === 0 || (expected as readonly string[]).includes(name)) return { program };
      const wanted = expected.length === 1 ? expected[0] : `one of [${expected.join(' ')}]`;
      return { fault: `must evaluate to ${wanted} but got ${name}` };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return { fault: `${COMPILATION_FAILED}${error.message}` };
    }
  }

  private variables(authorizer: boolean): Variables {
    const variables = admissionVariables(this.release, { ...this.available, authorizer });
    return this.variableTypes.size === 0 ? variables : { ...variables, variables: this.variablesType() };
  }
  private variablesType(): ObjectType {
    // Unlike fields of the API, variables may be null.
    return { kind: 'object', name: 'kubernetes.variables', fields: new Map(this.variableTypes), constructed: true };
  }
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words that no variable may be called. */
const reserved: Readonly<Record<string, true>> = Object.fromEntries(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'
    .split(' ')
    .map((word) => [word, true]),
);
export const isVariableName = (name: string): boolean => identifier.test(name) && own(reserved, name) === undefined;
