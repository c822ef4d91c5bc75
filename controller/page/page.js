// Names come from a cluster and may be anything: they reach the page as text alone, each in an isolate of its own, so
// that one written from right to left turns nothing around it.
const state = JSON.parse(document.getElementById("state").textContent);
const at = (id) => document.getElementById(id);

function element(tag, { text, name, className, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name !== undefined) made.append(isolated(name));
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function isolated(text) {
  const made = document.createElement("bdi");
  made.textContent = text;
  return made;
}

const heldOf = (part) => part.held.reduce((sum, pod) => sum + pod.count, 0);
const isOut = (node) => node.service !== "InService";

function standingOf(node) {
  const parts = node.parts.map((part) => `${heldOf(part)}/${part.offered} ${part.resource.replace("nvidia.com/", "")}`);
  const held = parts.join(", ") || "offers no GPU";
  return node.rollout ? `${node.rollout.phase} · ${held}` : isOut(node) ? `${node.service} · ${held}` : held;
}

// Devices by size; what is held stands first, since which one a pod has is known to its node alone.
function barOf(node) {
  const bar = element("span", { className: "bar", "aria-hidden": "true" });
  const add = (className, size) => {
    const slot = element("i", { className });
    slot.style.flexGrow = size;
    bar.append(slot);
  };
  for (const part of node.parts) {
    const held = heldOf(part);
    for (let i = 0; i < Math.min(part.offered, 64); ++i) add(i < held ? "held" : "", part.units || 1);
  }
  if (node.unused) add("unused", node.unused);
  return bar;
}

function wordsOf(node) {
  const pods = node.parts.flatMap((part) => part.held.map((pod) => `${pod.namespace}/${pod.pod} ${part.resource}`));
  return [node.name, node.pool, node.product, node.service, node.rollout?.layout, ...pods].join(" ").toLowerCase();
}

function drawNodes() {
  for (const node of state.nodes) {
    const card = element("button", { className: isOut(node) ? "node out" : "node", type: "button", "aria-pressed": "false" },
      element("b", { name: node.name }), element("small", { name: standingOf(node) }), barOf(node));
    card.addEventListener("click", () => { location.hash = "node/" + encodeURIComponent(node.name); });
    cards.set(node.name, { node, card, words: wordsOf(node) });
    at("nodes").append(card);
  }
  if (state.nodes.length === 0) at("nodes").append(element("p", { text: "No node has GPUs." }));
  at("legend").textContent = "Filled: held. Pale: free. Striped: memory that is in no slice. Red edge: out of service.";
}

function tableOf({ columns, rows }) {
  const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", text: column.toLowerCase() })));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { name: cell || "-" }))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
}

function drawTable(id, table) {
  at(id).append(table.rows.length ? tableOf(table) : element("p", { text: "None." }));
}

function drawWaiting() {
  for (const item of state.waiting) {
    const entry = element("details", {}, element("summary", {}, isolated(item.subject), " · ", isolated(item.reason)),
      element("p", { name: item.message }));
    for (const remedy of item.remedies) {
      entry.append(element("p", { name: remedy.message }));
      if (remedy.line) entry.append(element("pre", { text: remedy.line, tabindex: "0" }));
    }
    waiting.push({ entry, words: `${item.subject} ${item.reason} ${item.message}`.toLowerCase() });
    at("waiting").append(entry);
  }
  if (state.waiting.length === 0) at("waiting").append(element("p", { text: "Nothing waits for GPUs." }));
}

function describe(node) {
  const facts = [["Pool", node.pool || "none"], ["GPUs", node.gpus ? `${node.gpus} × ${node.product}` : "unknown"],
    ["Service", node.service]];
  if (node.rollout) {
    facts.push(["Rollout", `${node.rollout.layout}: ${node.rollout.phase} since ${node.rollout.since}`]);
    if (node.rollout.why) facts.push(["Trouble", node.rollout.why]);
  }
  if (node.unused) facts.push(["In no slice", `${node.unused} memory units`]);
  const held = node.parts.flatMap((part) =>
    part.held.map((pod) => [pod.namespace, pod.pod, part.resource, String(pod.count)]));
  at("detail").replaceChildren(
    ...facts.map(([fact, told]) => element("p", {}, element("b", { text: fact + ": " }), isolated(told))),
    element("pre", { text: `berth why node ${node.name}`, tabindex: "0" }),
    element("div", { className: "wide" }, tableOf({ columns: ["Namespace", "Pod", "Resource", "Count"], rows: held })));
}

// A link that leads to a node: #node/NAME.
function follow() {
  let name = "";
  try {
    name = decodeURIComponent(location.hash.replace(/^#node\//, ""));
  } catch {
    // Somebody typed it: it names no node.
  }
  for (const [of, { card }] of cards) card.setAttribute("aria-pressed", String(of === name));
  const found = cards.get(name);
  at("one").hidden = !found;
  if (!found) return;
  at("node").replaceChildren("Node ", isolated(name));
  describe(found.node);
  at("node").focus();
}

function search() {
  const wanted = at("search").value.trim().toLowerCase();
  for (const { card, words } of cards.values()) card.hidden = !words.includes(wanted);
  for (const { entry, words } of waiting) entry.hidden = !words.includes(wanted);
}

const cards = new Map();
const waiting = [];
const out = state.nodes.filter(isOut).length;
at("summary").textContent = `${state.nodes.length} nodes with GPUs, ${out} out of service, ` +
  `${state.waiting.length} waiting; as of ${state.takenAt}`;
drawNodes();
drawWaiting();
drawTable("queues", state.queues);
drawTable("pools", state.pools);
at("search").addEventListener("input", search);
addEventListener("hashchange", follow);
follow();
