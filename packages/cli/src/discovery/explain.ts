/** `plat explain`: documentation of the fields of a kind, from the OpenAPI schema. */

import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, FlagError, foldText, text } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { apiVersionOf, splitApiVersion } from '@plat-dev/meta/api-version';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { printable } from '../output/print-table.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { rulesOf, type Schema, Schemas } from './explain-schema.ts';
import { stockExplanation } from './explain-stock.ts';

const flags = {
  Explaining: {
    recursive: bool(false, 'List all fields recursively, with their types.'),
    'api-version': text('', 'Version of the type: apps/v1.', { value: 'VERSION', defaultText: 'the preferred one' }),
  },
  Connecting: connectFlags,
};

export const explain = command({
  usage: 'TYPE[.FIELD…] [flags]',
  summary: 'Show the fields of a type.',
  flags: flags,
  more: `
Paths skip lists and maps: pod.spec.containers.image is a field of each container.

Examples:
  plat explain pods
  plat explain deployment.spec.strategy --recursive
  plat explain beds.garden.example.com.spec --api-version=garden.example.com/v1

Exit codes:
  0   the type or field exists
  1   there is no such type or field, or the request failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const [word, more] = args;
    if (word === undefined) throw new FlagError('type missing. For example: plat explain pods, plat explain deployment.spec.strategy');
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    return withServer(options, io, async (work) => {
      const { resource, fields } = await meantBy(work, word, options.apiVersion);
      const schemas = await Schemas.load(work.session.transport, resource);
      const root = schemas.ofKind(resource);
      if (root === undefined) throw new Error(`the server does not describe ${resource.kind} of ${apiVersionOf(resource)}`);
      const fieldSchema = walk(schemas, root, fields, resource);
      if (isStock(io)) io.out(stockExplanation(schemas, resource, fields, fieldSchema, options.recursive));
      else new Explanation(schemas, io).print(resource, fields, fieldSchema, options.recursive);
      return 0;
    });
  },
});

/** Where the type ends and its fields begin: a group has dots, too, so the longest name that is a type counts. */
async function meantBy(work: Work, word: string, apiVersion: string): Promise<{ resource: ApiResource; fields: string[] }> {
  const parts = word.split('.').filter((part) => part !== '');
  if (apiVersion !== '') {
    const { group, version } = splitApiVersion(apiVersion);
    const type = `${parts[0]}.${version}${group === '' ? '' : `.${group}`}`;
    return { resource: await work.discovery.find(type), fields: parts.slice(1) };
  }
  if (parts.length === 0) throw new FlagError('which type?');
  const { resource, count } = await work.discovery.findPrefix(parts);
  return { resource, fields: parts.slice(count) };
}

function walk(schemas: Schemas, root: Schema, fields: readonly string[], resource: ApiResource): Schema {
  let at = root;
  fields.forEach((name, i) => {
    const { properties = {} } = schemas.element(at);
    const next = own(properties, name);
    if (next === undefined) {
      const path = [resource.singularName, ...fields.slice(0, i)].join('.');
      throw new Error(`${path} has no field ${JSON.stringify(name)}${didYouMean(name, Object.keys(properties))}`);
    }
    at = next;
  });
  return at;
}

/** Deeper than any kind without recursive types. */
const DEEPEST = 40;

class Explanation {
  private readonly schemas: Schemas;
  private readonly io: IO;

  constructor(schemas: Schemas, io: IO) {
    this.schemas = schemas;
    this.io = io;
  }
  print(resource: ApiResource, fields: readonly string[], schema: Schema, recursive: boolean): void {
    const element = this.schemas.element(schema);
    this.io.out(`KIND:      ${resource.kind}\nVERSION:   ${apiVersionOf(resource)}\n`);
    if (fields.length > 0) this.io.out(`FIELD:     ${fields.join('.')} <${this.schemas.typeName(schema)}>\n`);
    const whole = this.schemas.resolve(schema);
    const descriptions = [...new Set([whole.description, element.description])].filter((t) => t !== undefined && t !== '') as string[];
    this.io.out('\nDESCRIPTION:\n');
    for (const part of descriptions.length > 0 ? descriptions : ['<none>']) this.io.out(this.folded(part, 4));
    for (const rule of rulesOf(whole)) this.io.out(this.folded(rule, 4));
    if (element.properties === undefined) return;
    this.io.out('\nFIELDS:\n');
    if (recursive) this.tree(element, 2, []);
    else this.list(element);
  }
  private list(schema: Schema): void {
    for (const name of Object.keys(schema.properties ?? {}).sort()) {
      const field = own(schema.properties, name) as Schema;
      const whole = this.schemas.resolve(field);
      this.io.out(this.head(schema, name, 2));
      for (const part of [whole.description ?? '', ...rulesOf(whole)]) if (part !== '') this.io.out(this.folded(part, 6));
    }
  }
  /** `within`: types that are being shown; one that holds itself is not opened again. */
  private tree(schema: Schema, indent: number, within: readonly string[]): void {
    for (const name of Object.keys(schema.properties ?? {}).sort()) {
      const field = own(schema.properties, name) as Schema;
      this.io.out(this.head(schema, name, indent));
      const identity = this.schemas.identityOf(field);
      if (within.length > DEEPEST || (identity !== undefined && within.includes(identity))) continue;
      this.tree(this.schemas.element(field), indent + 2, [...within, identity ?? '']);
    }
  }
  private head(schema: Schema, name: string, indent: number): string {
    const required = schema.required?.includes(name) ? ' -required-' : '';
    return `${' '.repeat(indent)}${printable(name)} <${this.schemas.typeName(own(schema.properties, name) as Schema)}>${required}\n`;
  }
  private folded(args: string, indent: number): string {
    return args
      .split('\n')
      .flatMap((line) => foldText(printable(line.trim()), this.io.width - indent))
      .map((line) => `${' '.repeat(indent)}${line}\n`)
      .join('');
  }
}
