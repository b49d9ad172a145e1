/** `$(( … ))` of the shell: whole numbers, variables, brackets and the usual operators. */
import { NotSupported } from './words.ts';

/** Operators from the weakest to the strongest. */
const levels: readonly (readonly string[])[] = [
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Deepest nesting of brackets and signs. */
const DEPTH_LIMIT = 50;

/** Throws NotSupported for anything else. */
export function arithmetic(text: string, variable: (name: string) => string): number {
  const tokens = text.match(/\d+|\$?[A-Za-z_]\w*|==|!=|<=|>=|[-+*/%<>()]|\S/g) ?? [];
  let at = 0;
  let nested = 0;
  const primary = (): number => {
    if (++nested > DEPTH_LIMIT) throw new NotSupported('arithmetic that is nested so deeply');
    const value = operand();
    nested--;
    return value;
  };
  const operand = (): number => {
    const token = tokens[at++];
    if (token === '(') {
      const value = level(0);
      if (tokens[at++] !== ')') throw new NotSupported('syntax error in arithmetic');
      return value;
    }
    if (token === '-') return -primary();
    if (token !== undefined && /^\d+$/.test(token)) return Number(token);
    if (token !== undefined && /^\$?[A-Za-z_]/.test(token)) return Number(variable(token.replace('$', ''))) || 0;
    throw new NotSupported('syntax error in arithmetic');
  };
  const level = (depth: number): number => {
    const operators = levels[depth];
    if (operators === undefined) return primary();
    let value = level(depth + 1);
    for (let token = tokens[at]; token !== undefined && operators.includes(token); token = tokens[at]) {
      at++;
      value = combine(token, value, level(depth + 1));
    }
    return value;
  };
  const value = level(0);
  if (at < tokens.length) throw new NotSupported('syntax error in arithmetic');
  return value;
}

function combine(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
    case '%':
      if (b === 0) throw new NotSupported('division by zero');
      return operator === '/' ? Math.trunc(a / b) : a % b;
    case '==':
      return a === b ? 1 : 0;
    case '!=':
      return a === b ? 0 : 1;
    case '<':
      return a < b ? 1 : 0;
    case '>':
      return a > b ? 1 : 0;
    case '<=':
      return a <= b ? 1 : 0;
    default:
      return a >= b ? 1 : 0;
  }
}
