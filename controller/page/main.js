// The page: its parts, and the user's actions.
import { at } from "./dom.js";
import { applyChange, isOut, modelOf } from "./model.js";
import { Mosaic } from "./mosaic.js";
import { showCosts, showRollouts, showUse } from "./tables.js";
import { Queues } from "./queues.js";
import { Detail, subjectIn } from "./detail.js";
import { History } from "./history.js";
import { askWhy, listen } from "./source.js";
import { Story } from "./story.js";

let model = null, trouble = "";
const mosaic = new Mosaic((name) => { location.hash = "node/" + encodeURIComponent(name); });
const queues = new Queues();
const detail = new Detail(askWhy);
const past = new History();
const LEGENDS = {
  held: "Filled: held. Pale: free.",
  team: "A colour for each team; pale: free.",
  busy: "Bright from below: how busy. A narrow bar: held, and not measured.",
};

// Workloads that the viewer may not list are not in this number.
function waitingWords() {
  const { waitingOf } = model.values;
  if (waitingOf === "none") return "waiting: not known";
  return `${model.waiting.size} waiting${waitingOf === "some" ? " in the namespaces that you may read" : ""}`;
}

const wantedNow = () => at("search").value.trim().toLowerCase();

function showSummary() {
  if (!model) return void (at("summary").textContent = trouble || "Reading the cluster…");
  const out = [...model.nodes.values()].filter(isOut).length;
  at("summary").textContent = `${model.nodes.size} nodes with GPUs, ${out} out of service, ${waitingWords()}; ` +
    `as of ${model.values.takenAt}${trouble ? "; " + trouble : ""}`;
  const legend = `${LEGENDS[at("shade").value]} Striped: memory that is in no slice. Red edge: out of service.`;
  if (at("legend").textContent !== legend) at("legend").textContent = legend;
}

function showAll() {
  showSummary();
  mosaic.show(model);
  showUse(model);
  queues.show(model, wantedNow());
  showRollouts(model);
  showCosts(model);
}

// The changes since the last frame: the changed names of each kind, and the changed values.
const news = new Map();
function note(kind, names) {
  if (!news.has(kind)) news.set(kind, new Set());
  for (const name of names) news.get(kind).add(name);
}

function showNews() {
  const has = (...kinds) => kinds.some((kind) => news.has(kind));
  const others = [...(news.get("values") ?? [])];
  showSummary();
  if (has("nodes")) mosaic.change(model, [...news.get("nodes")]);
  if (has("nodes") || others.includes("pools")) showUse(model);
  if (has("queues", "waiting")) queues.show(model, wantedNow());
  if (has("nodes", "layouts")) showRollouts(model);
  if (others.some((name) => /costs/i.test(name))) showCosts(model);
  oneIsOther ||= has("nodes", "waiting");
  news.clear();
}

// Parts that depend on the time, add up over time, or need the server, are updated only once a second.
let oneIsOther = false;
function showTime() {
  past.watch(model);
  queues.showStarts(model, wantedNow());
  if (oneIsOther && subjectIn(location.hash)) follow(false);
  oneIsOther = false;
}

function follow(moved) {
  const subject = subjectIn(location.hash);
  mosaic.select(subject?.kind === "node" ? subject.name : null);
  if (model) detail.show(model, subject, moved);
}

function show(next) {
  model = next;
  showAll();
  follow(false);
}

let soon, tick;
function onChange(change) {
  applyChange(model, change);
  for (const [kind, things] of Object.entries(change.set ?? {})) note(kind, Object.keys(things));
  for (const [kind, names] of Object.entries(change.gone ?? {})) note(kind, names);
  note("values", Object.keys(change.values ?? {}));
  soon ??= requestAnimationFrame(() => {
    soon = undefined;
    showNews();
  });
  tick ??= setTimeout(() => {
    tick = undefined;
    showTime();
  }, 1000);
}

function onState(document) {
  const next = modelOf(document);
  if (!document.story) {
    show(next);
    past.watch(next);
    return;
  }
  past.tell(next, document.story.frames);
  new Story(next, document.story, (state, ms) => {
    show(state);
    past.mark(ms / 1000);
  });
}

function chooseTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  restyle();
}

function restyle() {
  mosaic.restyle();
  past.restyle();
}

at("search").addEventListener("input", () => {
  mosaic.search(wantedNow());
  if (model) queues.show(model, wantedNow());
});
at("shade").addEventListener("change", showSummary);
at("theme").addEventListener("change", () => chooseTheme(at("theme").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
addEventListener("hashchange", () => follow(true));
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    at("search").focus();
  }
  if (event.key === "Escape" && subjectIn(location.hash)) location.hash = "fleet";
});
listen(onState, onChange, (words) => {
  trouble = words;
  showSummary();
});
