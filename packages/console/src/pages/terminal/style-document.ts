/**
 * The document as xterm.js gets it. It makes `<style>` elements, which the Content-Security-Policy of the console forbids; here
 * their rules come into the page as style sheets of scripts, which it allows.
 */
export function styleDocument(page: Document): Document {
  const createElement = (name: string): HTMLElement => (name === 'style' ? sheetElement(page) : page.createElement(name));
  return new Proxy(page, {
    get(target, name) {
      if (name === 'createElement') return createElement;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/** An element whose text is a style sheet, until it is removed. */
function sheetElement(page: Document): HTMLElement {
  const element = page.createElement('span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) });
  element.remove = () => {
    page.adoptedStyleSheets = page.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

/**
 * Letters of a colour of their own have it by an attribute, and come from the document of the page itself. Scripts may set styles, but
 * not that attribute.
 */
export function allowStyleAttributes(): void {
  HTMLSpanElement.prototype.setAttribute = function (name, value) {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
