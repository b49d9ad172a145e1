/**
 * Templates of Go's text/template, as `-o go-template=…` uses them, on values of JSON.
 *
 *   goTemplate('{{.metadata.name}}')({ metadata: { name: 'web' } })                          → web
 *   goTemplate('{{range .items}}{{.name}} {{end}}')({ items: [{ name: 'a' }, { name: 'b' }] }) → 'a b '
 *
 * Actions, pipelines, variables, if, with, range, define, template, block, break and continue are those of Go, and so are the
 * functions, but for `call` and methods, which values of JSON do not have. Complex numbers are not supported.
 */
import { Execution, type TemplateOptions } from './execute.ts';
import { lazyFunctions, templateFunctions } from './functions.ts';
import { parseTemplate } from './parser.ts';

export type { TemplateOptions } from './execute.ts';
export { TemplateError } from './lexer.ts';
export { goText } from './values.ts';

const functionNames: ReadonlySet<string> = new Set([...templateFunctions.keys(), ...lazyFunctions]);

/** Compiles a template, to be run many times. Both throw TemplateError. */
export function goTemplate(text: string, options: TemplateOptions = { allowMissingKeys: true }): (value: unknown) => string {
  const parsed = parseTemplate(text, functionNames);
  return (value) => new Execution(parsed, options).run(value);
}
