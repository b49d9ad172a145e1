/** The variables of a policy, compiled in their order: each may use those before it. */
import type { Work } from '@plat-dev/lib/slices';
import type { ValidatingSpec } from '../admissionregistration/schema/policies.ts';
import type { AdmissionCompiler } from './admission-compiler.ts';
import type { CompiledVariable } from './admission-evaluation.ts';

export function* compiledVariables(variables: ValidatingSpec['variables'], compiler: AdmissionCompiler): Work<CompiledVariable[]> {
  const compiledOnes: CompiledVariable[] = [];
  for (const { name, expression } of variables ?? []) {
    yield;
    compiledOnes.push({ name, source: expression, compiled: compiler.addVariable(name, expression) });
  }
  return compiledOnes;
}
