// The page: what it shows, and what people do with it.
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

const wantedNow = () => at("search").value.trim().toLowerCase();

function showSummary() {
  if (!model) return void (at("summary").textContent = trouble || "Reading the cluster…");
  const out = [...model.nodes.values()].filter(isOut).length;
  at("summary").textContent = `${model.nodes.size} nodes with GPUs, ${out} out of service, ${model.waiting.size} waiting; ` +
    `as of ${model.values.takenAt}${trouble ? "; " + trouble : ""}`;
  const legend = `${LEGENDS[at("shade").value]} Striped: memory that is in no slice. Red edge: out of service.`;
  if (at("legend").textContent !== legend) at("legend").textContent = legend;
}

function showParts({ nodes = true, rest = true } = {}) {
  showSummary();
  if (nodes) {
    mosaic.show(model);
    showUse(model);
  }
  if (rest) {
    queues.show(model, wantedNow());
    showRollouts(model);
    showCosts(model);
  }
}

function follow(moved) {
  const subject = subjectIn(location.hash);
  mosaic.select(subject?.kind === "node" ? subject.name : null);
  if (model) detail.show(model, subject, moved);
}

function show(next) {
  model = next;
  showParts();
  follow(false);
}

function onChange(change) {
  applyChange(model, change);
  past.watch(model);
  const touches = (kind) => Boolean(change.set?.[kind] || change.gone?.[kind]);
  const nodes = touches("nodes");
  const others = ["queues", "waiting", "layouts"].some(touches) || Object.keys(change.values ?? {}).some((name) => name !== "takenAt");
  if (nodes || others) showParts({ nodes, rest: nodes || others });
  else showSummary();
  const subject = subjectIn(location.hash);
  if (subject && (nodes || touches("waiting"))) follow(false);
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
  mosaic.drawSoon();
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
