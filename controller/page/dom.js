// Elements. Names come from a cluster and may hold any characters. The page inserts them only as text, each in its own
// bidi isolate, so that a right-to-left name does not reorder the text around it.
export const at = (id) => document.getElementById(id);

export function element(tag, { text, name, className, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name !== undefined) made.append(isolated(name));
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function isolated(text) {
  const made = document.createElement("bdi");
  made.textContent = text;
  return made;
}

// A command: a click copies it, or selects it where copying is not allowed.
export function lineToCopy(line) {
  const pre = element("pre", { text: line, tabindex: "0" });
  const button = element("button", { type: "button", className: "copy", text: "Copy", "aria-label": `Copy: ${line}` });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return element("div", { className: "line" }, pre, button);
}

export function remediesOf(remedies) {
  return remedies.flatMap((remedy) => [element("p", { name: remedy.message }),
    ...(remedy.line ? [lineToCopy(remedy.line)] : [])]);
}

// Cells are texts or elements.
export function tableOf(columns, rows, caption) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", text: column })));
  const cellOf = (cell) => cell instanceof Node ? element("td", {}, cell) : element("td", { name: cell || "–" });
  const body = rows.map((row) => element("tr", {}, ...row.map(cellOf)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  if (caption) table.prepend(element("caption", { text: caption }));
  return element("div", { className: "wide", tabindex: "0", role: "group", "aria-label": caption || columns.join(", ") },
    table);
}

// A bar with one part per [share, class]; `words` describe it to screen readers.
export function shareBar(parts, words) {
  const bar = element("span", { className: "share", role: "img", "aria-label": words });
  for (const [share, className] of parts) {
    const part = element("i", { className });
    part.style.flexGrow = Math.max(0, share);
    bar.append(part);
  }
  return bar;
}

export const linkTo = (kind, name, text = name) =>
  element("a", { href: `#${kind}/${name.split("/").map(encodeURIComponent).join("/")}`, name: text });

// Keeps the elements of each thing while the thing is the same object, so that open details stay open and the reader
// keeps the place. It calls `make` for new and changed things.
export class Kept {
  constructor(box, make, none) {
    Object.assign(this, { box, make, none, shown: new Map(), note: element("p") });
  }

  show(things, most) {
    const next = new Map();
    for (const [name, thing] of things) {
      if (next.size === most) break;
      const known = this.shown.get(name);
      next.set(name, known?.thing === thing ? known : { thing, made: this.make(name, thing, known?.made) });
    }
    this.shown = next;
    const elements = [...next.values()].map(({ made }) => made);
    const left = things.length - next.size;
    if (left > 0 || elements.length === 0) elements.push(this.note);
    this.note.textContent = left > 0 ? `${left} more; search narrows what is shown.` : this.none;
    const now = [...this.box.children];
    if (elements.length !== now.length || elements.some((made, i) => made !== now[i])) this.box.replaceChildren(...elements);
  }
}
