/**
 * xterm.js has no option to do without `<style>` elements and style attributes, which the Content-Security-Policy of the console
 * forbids. This plug-in of the build puts in their place what scripts may do: style sheets (style-node.ts), and the `style` property.
 * The build fails where xterm.js sets styles at other places than those that are known.
 */
import { fileURLToPath } from 'node:url';

const styleNode = fileURLToPath(new URL('../packages/console/src/pages/terminal/style-node.ts', import.meta.url));

export const xtermStyles = {
  name: 'xterm-styles',
  transform: (code, id) => (/\/@xterm\/xterm\/lib\/xterm\.mjs$/.test(id.replaceAll('\\', '/')) ? withoutInlineStyles(code) : undefined),
};

export function withoutInlineStyles(code) {
  const elements = replaced(code, 3, /([\w.]+)\.createElement\("style"\)/g, 'styleNode($1)');
  const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;
  const text = replaced(elements, 1, attribute, '$1.style.cssText+=$2');
  const other = /.{0,40}["'`]style["'`].{0,40}/.exec(text);
  if (other !== null) throw new Error(`xterm.js sets a style at a place that is not known: ${other[0]}`);
  return `import{styleNode}from${JSON.stringify(styleNode)};${text}`;
}

function replaced(code, count, pattern, replacement) {
  const found = code.match(pattern)?.length ?? 0;
  if (found !== count) throw new Error(`xterm.js sets styles at ${found} places like ${pattern}, ${count} are known`);
  return code.replaceAll(pattern, replacement);
}
