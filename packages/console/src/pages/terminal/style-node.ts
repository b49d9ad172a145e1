/**
 * What xterm.js has in place of each `<style>` element (scripts/xterm-styles.mjs): the Content-Security-Policy of the console forbids
 * those, and allows style sheets of scripts. The node's text is the style sheet, until the node is removed.
 */
export function styleNode(page: Document): Comment {
  const node = page.createComment('');
  const sheet = new CSSStyleSheet();
  page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
  Object.defineProperty(node, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) });
  node.remove = () => {
    page.adoptedStyleSheets = page.adoptedStyleSheets.filter((one) => one !== sheet);
    Comment.prototype.remove.call(node);
  };
  return node;
}
