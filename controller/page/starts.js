// When pending workloads start: for each, since when it waits, between which times its queue expects its start, and
// from when its GPUs are reserved, on one time axis. Rows of text with a bar rather than a drawing, so that names can
// be read aloud, selected and followed.
import { at, element, isolated, linkTo } from "./dom.js";
import { inOrder } from "./model.js";
import { DAY, dateOf, hourOf } from "./times.js";

const MINUTE = 60000;
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 10080, 43200].map((minutes) => minutes * MINUTE);
const MOST_TICKS = 5, MOST_STARTS = 40, LEAST_AHEAD = 10 * MINUTE;

// Earliest start first; among equal ones those without a latest start last. A workload with reserved GPUs starts at the
// latest when these are free, even if nothing else is known about it.
function startsIn(model, has, now) {
  const starts = [];
  for (const [queue, { pending }] of inOrder(model.queues))
    for (const one of pending)
      if ((one.earliest || one.reserved) && has(`${queue} ${one.workload} ${one.reason} ${one.message}`)) {
        const kept = one.reserved ? Date.parse(one.reserved) : null;
        starts.push({ ...one, queue, kept, from: one.earliest ? Date.parse(one.earliest) : now,
          to: one.latest ? Date.parse(one.latest) : kept ?? Infinity });
      }
  return starts.sort((a, b) => a.from - b.from || a.to - b.to || a.position - b.position);
}

// As far ahead as the last expected start, and no further back than ahead: otherwise a wait of days would hide the
// minutes that remain.
function axisOf(starts, now) {
  const ahead = Math.max(LEAST_AHEAD, ...starts.map(({ from, to, kept }) => Math.max(to < Infinity ? to : from + LEAST_AHEAD, kept ?? 0) - now));
  const waited = Math.max(0, ...starts.map(({ since }) => (since ? now - Date.parse(since) : 0)));
  const begin = now - Math.min(waited, ahead), end = now + ahead * 1.08;  // space for the last label
  const step = TICKS.find((one) => (end - begin) / one <= MOST_TICKS) ?? TICKS[TICKS.length - 1];
  const ticks = [];
  for (let tick = Math.ceil(begin / step) * step; tick <= end; tick += step) ticks.push(tick);
  const placeOf = (ms) => Math.min(100, Math.max(0, (100 * (ms - begin)) / (end - begin)));
  return { now, end, step, ticks, placeOf };
}

function pieceOf(axis, className, from, to = from) {
  const piece = element("i", { className });
  piece.style.left = `${axis.placeOf(from)}%`;
  if (to !== from) piece.style.width = `${axis.placeOf(to) - axis.placeOf(from)}%`;
  return piece;
}

function scaleOf(axis) {
  const scale = element("div", { className: "track scale" });
  for (const tick of axis.ticks) {
    const label = element("span", { text: axis.step < DAY ? hourOf(tick) : dateOf(tick) });
    label.style.left = `${axis.placeOf(tick)}%`;
    scale.append(label);
  }
  return scale;
}

function wordsFor({ from, to, kept }, now) {
  const words = (ms) => (ms <= now ? "now" : ms - now < DAY ? hourOf(ms) : `${dateOf(ms)} ${hourOf(ms)}`);
  const place = kept === null ? "" : `; its place is free by ${words(kept)}`;
  if (to === Infinity) return `not before ${words(from)}${place}`;
  return (words(from) === words(to) ? words(from) : `${words(from)} to ${words(to)}`) + place;
}

function trackOf(axis, start) {
  const track = element("div", { className: "track" }, ...axis.ticks.map((tick) => pieceOf(axis, "tick", tick)));
  if (start.since) track.append(pieceOf(axis, "waited", Date.parse(start.since), axis.now));
  const open = start.to === Infinity;
  track.append(pieceOf(axis, open ? "begins open" : "begins", Math.max(start.from, axis.now), open ? axis.end : Math.max(start.to, axis.now)),
    pieceOf(axis, "now", axis.now));
  if (start.kept !== null) track.append(pieceOf(axis, "kept", Math.max(start.kept, axis.now)));
  return track;
}

export function showStarts(model, has) {
  const box = at("starts"), focused = box.contains(document.activeElement) ? document.activeElement.hash : "";
  const now = Date.parse(model.values.takenAt);
  const all = startsIn(model, has, now), starts = all.slice(0, MOST_STARTS);
  box.hidden = starts.length === 0;
  if (box.hidden) return box.replaceChildren();
  const axis = axisOf(starts, now);
  const head = element("tr", {}, ...["queue", "workload", "begins"].map((text) => element("th", { scope: "col", text })),
    element("th", { scope: "col", "aria-label": "on an axis of time" }, scaleOf(axis)));
  const rows = starts.map((start) => element("tr", { title: start.message }, element("td", { name: start.queue }),
    element("td", {}, linkTo("job", start.workload)), element("td", { text: wordsFor(start, axis.now) }), element("td", {}, trackOf(axis, start))));
  const left = all.length - starts.length;
  const caption = element("caption", { text: `When it begins (UTC): pale: waits; full: begins in that time; line: ${hourOf(axis.now)}, now` +
    (starts.some(({ kept }) => kept !== null) ? "; diamond: what it needs is kept for it, and free by then" : "") +
    (left > 0 ? `; ${left} more; search narrows what is shown` : "") });
  box.replaceChildren(element("table", { className: "starts" }, caption, element("thead", {}, head), element("tbody", {}, ...rows)));
  if (focused) [...box.querySelectorAll("a")].find(({ hash }) => hash === focused)?.focus();
}
