/** Values of a module that change while it is loaded: they outlive every server of the process. */

/** Methods that change a collection. */
const changes = 'set|add|delete|clear|push|pop|shift|unshift|splice|sort|fill';
/** Classes whose values never change, and those whose entries go with the objects that they are about. */
const harmless = new Set(['RegExp', 'WeakMap', 'WeakSet', 'TextEncoder', 'TextDecoder', 'URL', 'Error', 'Intl']);

/** The names of such values, given the code of a module without comments and texts. */
export function moduleState(code: string): string[] {
  const found = [...code.matchAll(/^(?:export )?let (\w+)/gm)].map((match) => match[1] as string);
  for (const match of code.matchAll(/^(?:export )?const (\w+)(?:: [^=;]*)? =\s+(?:new (\w+)|(\[|\{))/gm)) {
    const [, name, made, literal] = match as unknown as [string, string, string | undefined, string | undefined];
    const isCollection = literal !== undefined || made === 'Map' || made === 'Set' || made === 'Array';
    if (isCollection ? changed(code, name) : !harmless.has(made as string)) found.push(name);
  }
  return found;
}

const changed = (code: string, name: string): boolean =>
  new RegExp(`(?<![.\\w])${name}(?:\\.(?:${changes})\\(|\\[[^\\]]*\\] (?:\\?\\?)?=[^=]|\\.\\w+ (?:[-+]|\\?\\?)?= )`).test(code);
