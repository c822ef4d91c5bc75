// GPUs offered, held and utilized, and the number of pending workloads, over time: for the last hour, or for a whole
// simulation. The server stores no history for the page: the page keeps the states since it was opened.
import { at } from "./dom.js";
import { applyChange, copyOf, columnsOf, useBy } from "./model.js";
import { clock, timeOf } from "./times.js";
import { uPlot } from "./uplot.js";

const HOUR_S = 3600, HEIGHT = 200;
const LINES = [
  { label: "offered", scale: "gpus", ink: "line", of: (use) => use.offered },
  { label: "held", scale: "gpus", ink: "held", of: (use) => use.held },
  { label: "at work", scale: "gpus", ink: "busy", of: (use) => use.atWork },
  { label: "waiting", scale: "waiting", ink: "unused", dash: [4, 4], of: (use) => use.waiting },
];

// In whole GPUs. Utilization is null where nothing is measured: a gap, not zero.
function fleetUse(model) {
  const { offered = 0, whole = 0, MIG = 0, shared = 0 } = useBy(model, { pool: () => "" }).get("") ?? {};
  let atWork = null;
  for (const node of model.nodes.values())
    if (node.seen && node.units)
      for (const { units, busy } of columnsOf(node).flat())
        if (busy !== undefined) atWork = (atWork ?? 0) + (units / node.units) * (busy / 100);
  return { offered, held: whole + MIG + shared, atWork, waiting: model.waiting.size };
}

const rounded = (value) => (value === null ? null : Math.round(value * 100) / 100);

export class History {
  constructor() {
    this.forget();
    addEventListener("resize", () => this.plot?.setSize({ width: this.width(), height: HEIGHT }));
  }

  forget() {
    this.columns = [[], ...LINES.map(() => [])];
    this.inStory = false;
  }

  add(second, model) {
    const [times] = this.columns, use = fleetUse(model);
    while (times[times.length - 1] >= second) this.columns.forEach((column) => column.pop());  // the same second again, or the clock went back
    [second, ...LINES.map(({ of }) => rounded(of(use)))].forEach((value, i) => this.columns[i].push(value));
  }

  // A live page: adds the present state.
  watch(model) {
    const second = Math.floor(Date.parse(model.values.takenAt) / 1000);
    this.add(second, model);
    while (this.columns[0][0] < second - HOUR_S) this.columns.forEach((column) => column.shift());
    this.show();
  }

  // A simulation from begin to end; `mark` then shows the selected moment.
  tell(begin, frames) {
    this.forget();
    this.inStory = true;
    const model = copyOf(begin);
    this.add(0, model);
    for (const { at: ms, change } of frames) {
      applyChange(model, change);
      this.add(ms / 1000, model);
    }
    this.show();
  }

  mark(second) {
    this.moment = second;
    this.point();
  }

  // The legend shows the values of the selected moment, unless the pointer selects another.
  point() {
    const [times] = this.columns;
    if (this.plot) this.plot.setCursor({ left: this.plot.valToPos(this.inStory ? this.moment ?? 0 : times[times.length - 1], "x"), top: -10 });
  }

  show() {
    at("history").hidden = this.columns[0].length < 2;
    if (at("history").hidden) return;
    if (this.plot) this.plot.setData(this.columns);
    else this.plot = new uPlot(this.options(), this.columns, at("history-plot"));
    this.point();
  }

  // In the colours of the present theme.
  restyle() {
    this.plot?.destroy();
    this.plot = undefined;
    this.show();
  }

  width() {
    return at("history").clientWidth;
  }

  options() {
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(`--${name}`).trim();
    const words = (second) => (this.inStory ? timeOf : clock)(second * 1000);
    const axis = { stroke: ink("soft"), grid: { stroke: ink("free"), width: 1 }, ticks: { stroke: ink("free"), width: 1 }, font: "12px system-ui, sans-serif" };
    const counts = (scale, side) => ({ ...axis, scale, side, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000],
      grid: { ...axis.grid, show: side === 3 } });
    const fromNought = { range: (_, low, high) => [0, Math.max(1, high) * 1.08] };
    return {
      width: this.width(), height: HEIGHT, cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
      scales: { x: { time: true }, gpus: fromNought, waiting: fromNought },
      axes: [{ ...axis, values: (_, seconds) => seconds.map(words), space: 80 }, counts("gpus", 3), counts("waiting", 1)],
      series: [{ label: "Time", value: (_, second) => (second === null ? "–" : words(second)) },
        ...LINES.map(({ label, scale, ink: name, dash }) => ({ label, scale, dash, stroke: ink(name), width: 2, paths: uPlot.paths.stepped({ align: 1 }),
          points: { show: false }, value: (_, value) => value ?? "not measured" }))],
    };
  }
}
