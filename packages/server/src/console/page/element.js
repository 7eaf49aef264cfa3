/**
 * Creates an element. Children are elements or text: text never becomes markup. Attribute names must be constants of
 * this page; `on...` is never used.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat());
  return made;
}
