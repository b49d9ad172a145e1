// Finds where a property is looked up or set under a name that may come from outside: `labels[key]`, `key in data`.
//
// A key such as `constructor` finds what every object inherits, and `object['__proto__'] = value` changes the object's prototype. So
// such keys go through lib/own.ts (`own`, `setOwn`) or through a Map. The types say which keys are meant: names that are known
// when the program is compiled, numbers, and names with a part that nothing inherited has (`${string}/${string}`) are fine, and so
// is every key of a loop over the same object.
//
//   node scripts/own-keys.mjs      the exit code is 1 when it finds something
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SyntaxKind } from 'typescript/unstable/ast';
import { API, TypeFlags } from 'typescript/unstable/sync';
import { exceptions } from './own-keys-exceptions.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inherited = Object.getOwnPropertyNames(Object.prototype);
const isTest = (file) => /\.(test|testing)\.ts$|\.suite(\.\w+)*\.ts$|\/testing\.ts$/.test(file);

/** Each place as `{ file, line, code }`, of the project in a directory, whose files may be given (`fs` of TypeScript's interface). */
export function dynamicKeys(directory, fs) {
  const compiler = new API({ cwd: directory, fs });
  try {
    const snapshot = compiler.updateSnapshot({ openProjects: [join(directory, 'tsconfig.json')] });
    const [project] = snapshot.getProjects();
    const files = project.rootFiles.filter((file) => file.startsWith(join(directory, 'packages/')) && !isTest(file)).sort();
    return files.flatMap((file) => placesOf(project, project.program.getSourceFile(file), relative(directory, file)));
  } finally {
    compiler.close();
  }
}

function placesOf({ checker }, source, file) {
  const uses = [];
  const visit = (node) => {
    const use = useOf(node);
    if (use !== undefined) uses.push({ node, ...use });
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  const types = uses.length === 0 ? [] : checker.getTypeAtLocation(uses.map(({ key }) => key));
  return uses
    .filter((use, i) => !isHarmless(checker, types[i]) && !isKeyOf(use))
    .map(({ node }) => ({ file, line: lineOf(source, node), code: codeOf(node) }));
}
function lineOf(source, node) {
  return source.text.slice(0, node.getStart()).split('\n').length;
}
function codeOf(node) {
  return node.getText().replace(/\s+/g, ' ');
}

/** The key of a look-up or an assignment, and the object that it is a key of. */
function useOf(node) {
  if (node.kind === SyntaxKind.ElementAccessExpression) {
    // What is inherited is never deleted.
    return node.parent.kind === SyntaxKind.DeleteExpression ? undefined : { key: node.argumentExpression, object: node.expression };
  }
  if (node.kind === SyntaxKind.BinaryExpression && node.operatorToken.kind === SyntaxKind.InKeyword)
    return { key: node.left, object: node.right };
  // `const { [key]: value } = object`
  if (node.kind === SyntaxKind.BindingElement && node.propertyName?.kind === SyntaxKind.ComputedPropertyName)
    return { key: node.propertyName.expression, object: node.parent.parent.initializer };
  // It sets what it copies, so that a source with a key `__proto__` changes the prototype; `{ ...source }` does not.
  if (
    node.kind === SyntaxKind.CallExpression &&
    node.expression.getText() === 'Object.assign' &&
    !node.arguments.slice(1).every(hasFixedKeys)
  )
    return { key: node };
  return undefined;
}

/** Whether an object is written with its keys: `{ code: 'ETIMEDOUT' }`. */
function hasFixedKeys(node) {
  const fixed = [SyntaxKind.PropertyAssignment, SyntaxKind.ShorthandPropertyAssignment];
  return (
    node.kind === SyntaxKind.ObjectLiteralExpression &&
    node.properties.every(({ kind, name }) => fixed.includes(kind) && name.kind !== SyntaxKind.ComputedPropertyName)
  );
}

/** Whether no key of this type is the name of something inherited. */
function isHarmless(checker, type) {
  if (type === undefined) return false;
  if (type.isUnionType()) return type.getTypes().every((one) => isHarmless(checker, one));
  if (type.isStringLiteralType()) return !inherited.includes(type.value);
  if (type.isTemplateLiteralType()) {
    const pattern = new RegExp(`^${type.texts.map((text) => text.replaceAll(/[^\w]/g, '\\$&')).join('.*')}$`, 's');
    return !inherited.some((name) => pattern.test(name));
  }
  if (type.flags & (TypeFlags.NumberLike | TypeFlags.ESSymbolLike | TypeFlags.Never)) return true;
  if (type.flags & (TypeFlags.TypeParameter | TypeFlags.IndexedAccess | TypeFlags.Conditional | TypeFlags.Index)) {
    const bound = checker.getBaseConstraintOfType(type);
    return bound !== undefined && bound.id !== type.id && isHarmless(checker, bound);
  }
  return false;
}

const bare = (node) => {
  while ([SyntaxKind.AsExpression, SyntaxKind.ParenthesizedExpression, SyntaxKind.NonNullExpression].includes(node.kind))
    node = node.expression;
  return node.getText();
};

/** Whether the key is one that a loop over the same object found, so that it is the object's own. */
function isKeyOf({ key, object }) {
  if (object === undefined || key.kind !== SyntaxKind.Identifier) return false;
  const listed = listedBy(key);
  return listed !== undefined && bare(listed) === bare(object);
}
/** The object whose keys the loop or the callback around a name goes through, where it is the variable of that. */
function listedBy(name) {
  for (let node = name.parent; node !== undefined; node = node.parent) {
    const names = boundNames(node);
    if (names?.some(({ text }) => text === name.text)) return keysOwner(node, name.text);
  }
  return undefined;
}
/** The names that a loop or a function declares for its body. */
function boundNames(node) {
  if (node.kind === SyntaxKind.ForInStatement || node.kind === SyntaxKind.ForOfStatement)
    return node.initializer.declarations?.flatMap(({ name }) => leaves(name));
  return node.parameters?.flatMap(({ name }) => leaves(name));
}
function leaves(name) {
  return name.elements === undefined
    ? [name]
    : name.elements.flatMap((element) => (element.name === undefined ? [] : leaves(element.name)));
}
function keysOwner(node, name) {
  if (node.kind === SyntaxKind.ForInStatement) return node.expression;
  if (node.kind === SyntaxKind.ForOfStatement) return ownerOfList(node.expression, node.initializer.declarations[0].name, name);
  const call = node.parent;
  if (call?.kind !== SyntaxKind.CallExpression || call.expression.kind !== SyntaxKind.PropertyAccessExpression) return undefined;
  return ownerOfList(call.expression.expression, node.parameters[0].name, name);
}
/** `x` of `Object.keys(x)`, `Object.keys(x).sort()`, `Object.entries(x)` whose first element is the name. */
function ownerOfList(list, pattern, name) {
  while (list.kind === SyntaxKind.CallExpression && list.expression.kind === SyntaxKind.PropertyAccessExpression) {
    const method = list.expression.name.text;
    if (list.expression.expression.getText() === 'Object') {
      if (method === 'keys') return list.arguments[0];
      return method === 'entries' && pattern.elements?.[0]?.name?.getText() === name ? list.arguments[0] : undefined;
    }
    if (!['sort', 'toSorted', 'filter', 'reverse'].includes(method)) return undefined;
    list = list.expression.expression;
  }
  return undefined;
}

/** What is wrong: places without an exception, and exceptions without a place. */
export function offences(places, except = exceptions) {
  const names = ({ file, code }) => [file, `${file} ${code}`];
  const needed = new Set(places.flatMap(names));
  return [
    ...places
      .filter((place) => !names(place).some((name) => Object.hasOwn(except, name)))
      .map(
        ({ file, line, code }) =>
          `${file}:${line} ${code}: use own() or setOwn() of packages/lib/src/own.ts, or a Map: the key may be "constructor"`,
      ),
    ...Object.keys(except)
      .filter((name) => !needed.has(name))
      .map((name) => `${name}: an exception in scripts/own-keys-exceptions.mjs that nothing needs any more`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = offences(dynamicKeys(root));
  for (const offence of found) console.error(offence);
  process.exitCode = found.length > 0 ? 1 : 0;
}
