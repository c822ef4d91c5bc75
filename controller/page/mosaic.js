// The fleet map: a tile for each node, with a column for each GPU that shows its memory from the top down. It uses one
// canvas of the window's size and draws only visible tiles, so that scrolling thousands of nodes stays fast.
import { at } from "./dom.js";
import { columnsOf, inOrder, isOut, standingOf, wordsOf } from "./model.js";

const SIZES = [  // up to so many nodes: width of a column, height of a tile's GPUs, height of its name
  { nodes: 80, column: 14, height: 56, name: 16 },
  { nodes: 400, column: 8, height: 32, name: 13 },
  { nodes: Infinity, column: 5, height: 24, name: 0 },
];
const GAP = 8, HEADING = 22, EDGE = 5, FRAME = 2, MOST_COLUMNS = 16;

function hueOf(text) {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return hash % 360;
}

export class Mosaic {
  constructor(onOpen) {
    Object.assign(this, { canvas: at("canvas"), box: at("mosaic"), onOpen, tiles: [], places: new Map(), headings: [], wanted: "", focus: -1 });
    Object.assign(this, { stale: new Set(), all: true });  // to draw next: these tiles, or everything
    this.paper = this.canvas.getContext("2d");
    const redraw = () => this.drawSoon();
    addEventListener("scroll", redraw, { passive: true });
    addEventListener("resize", () => { this.layOut(); redraw(); });
    at("shade").addEventListener("change", redraw);
    this.canvas.addEventListener("pointermove", (event) => this.point(this.tileAt(event)));
    this.canvas.addEventListener("click", (event) => this.open(this.tileAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("focus", () => this.point(Math.max(this.focus, 0)));
    for (const turn of ["focus", "blur"]) this.canvas.addEventListener(turn, redraw);
  }

  show(model) {
    const focused = this.tiles[this.focus]?.name;
    this.nodes = inOrder(model.nodes);
    this.layOut();
    this.focus = this.places.get(focused) ?? -1;
    this.drawSoon();
  }

  // Updates these changed nodes. If all keep their place, only their tiles are drawn.
  change(model, names) {
    const moved = (name) => {
      const tile = this.tiles[this.places.get(name)], node = model.nodes.get(name);
      return !tile || !node || tile.node.pool !== node.pool || columnsOf(tile.node).length !== columnsOf(node).length;
    };
    if (names.some(moved)) return this.show(model);
    for (const name of names) {
      const tile = this.tiles[this.places.get(name)];
      tile.node = model.nodes.get(name);
      this.drawSoon(tile);
    }
  }

  search(wanted) {
    this.wanted = wanted;
    this.drawSoon();
  }

  select(name) {
    if (this.selected === name) return;
    this.selected = name;
    this.drawSoon();
  }

  restyle() {
    this.ink = undefined;
    this.drawSoon();
  }

  // By pool; each pool starts a new row.
  layOut() {
    const nodes = this.nodes ?? [];
    this.size = SIZES.find((size) => nodes.length <= size.nodes);
    const most = nodes.reduce((sum, [, node]) => Math.max(sum, columnsOf(node).length), 1);
    this.width = Math.max(Math.min(most, MOST_COLUMNS) * this.size.column + EDGE, this.size.name ? 84 : 0);
    this.height = this.size.height + this.size.name;
    const across = Math.max(1, Math.floor((this.box.clientWidth + GAP) / (this.width + GAP)));
    const pools = new Map();
    for (const [name, node] of nodes) {
      if (!pools.has(node.pool)) pools.set(node.pool, []);
      pools.get(node.pool).push({ name, node });
    }
    this.tiles = [];
    this.headings = [];
    let top = 0;
    for (const [pool, members] of [...pools].sort(([a], [b]) => !a - !b || a.localeCompare(b))) {
      this.headings.push({ text: `${pool || "in no pool"} (${members.length})`, top });
      top += HEADING;
      members.forEach((tile, i) => this.tiles.push({ ...tile, x: (i % across) * (this.width + GAP),
        y: top + Math.floor(i / across) * (this.height + GAP) }));
      top += Math.ceil(members.length / across) * (this.height + GAP);
    }
    this.places = new Map(this.tiles.map(({ name }, i) => [name, i]));
    this.across = across;
    this.box.style.height = `${Math.max(top, HEADING)}px`;
  }

  drawSoon(tile) {
    if (tile) this.stale.add(tile);
    else this.all = true;
    this.soon ??= requestAnimationFrame(() => {
      this.soon = undefined;
      this.draw();
    });
  }

  draw() {
    const begun = performance.now();
    const ratio = devicePixelRatio || 1;
    const wide = this.box.clientWidth, high = Math.min(innerHeight, this.box.clientHeight);
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(high * ratio)) {
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(high * ratio);
      this.canvas.style.width = `${wide}px`;
      this.canvas.style.height = `${high}px`;
      this.all = true;
    }
    const from = this.from();
    if (from !== this.drawnFrom) this.all = true;
    this.drawnFrom = from;
    if (!this.ink) this.readInk();
    this.paper.setTransform(ratio, 0, 0, ratio, 0, -from * ratio);
    if (this.all) {
      this.paper.clearRect(0, from, wide, high);
      this.drawHeadings(from, high);
    }
    for (const tile of this.all ? this.tiles : this.stale) if (tile.y + this.height >= from && tile.y <= from + high) this.drawTile(tile);
    this.all = false;
    this.stale.clear();
    this.canvas.dataset.drawn = (performance.now() - begun).toFixed(1);
  }

  readInk() {
    const style = getComputedStyle(document.documentElement);
    this.ink = Object.fromEntries(["ink", "soft", "page", "card", "held", "free", "unused", "bad", "busy"].map((name) =>
      [name, style.getPropertyValue(`--${name}`).trim()]));
    this.dark = style.getPropertyValue("--dark").trim() === "1";
  }

  drawHeadings(from, high) {
    this.paper.font = "600 13px system-ui, sans-serif";
    this.paper.fillStyle = this.ink.soft;
    for (const { text, top } of this.headings) if (top + HEADING >= from && top <= from + high) this.paper.fillText(text, 0, top + 15);
  }

  // How much of the map is above the canvas, which sticks to the window's upper edge.
  from() {
    return Math.max(0, this.canvas.getBoundingClientRect().top - this.box.getBoundingClientRect().top);
  }

  drawTile(tile) {
    const { paper, ink, size } = this;
    const { node, name, x, y } = tile;
    paper.clearRect(x - FRAME, y - FRAME, this.width + 2 * FRAME, this.height + 2 * FRAME);
    paper.globalAlpha = wordsOf(name, node).includes(this.wanted) ? 1 : 0.12;
    paper.fillStyle = ink.card;
    paper.fillRect(x, y, this.width, this.height);
    if (isOut(node)) {
      paper.fillStyle = ink.bad;
      paper.fillRect(x, y, 3, this.height);
    }
    if (size.name) {
      paper.font = `${size.name - 4}px system-ui, sans-serif`;
      paper.fillStyle = ink.ink;
      paper.save();
      paper.beginPath();
      paper.rect(x, y, this.width, size.name);
      paper.clip();
      paper.fillText(name, x + EDGE, y + size.name - 4);
      paper.restore();
    }
    const columns = columnsOf(node).slice(0, MOST_COLUMNS);
    columns.forEach((cells, i) => {
      const whole = Math.max(node.units || 8, cells.reduce((sum, cell) => sum + cell.units, 0));
      let top = y + size.name;
      for (const cell of cells) {
        const high = (cell.units / whole) * size.height;
        this.fill(cell, x + EDGE + i * size.column, top, size.column - 1, Math.max(high - 1, 1));
        top += high;
      }
    });
    if (node.rollout) this.frame(tile, ink.unused);
    if (name === this.selected) this.frame(tile, ink.held);
    paper.globalAlpha = 1;
    if (tile === this.tiles[this.focus] && document.activeElement === this.canvas) this.frame(tile, ink.ink);
  }

  fill(cell, x, y, wide, high) {
    const { paper, ink } = this;
    if (cell.unused) {  // striped: memory in no MIG instance
      paper.fillStyle = ink.unused;
      for (let line = 0; line < high; line += 3) paper.fillRect(x, y + line, wide, 1);
      return;
    }
    const shade = at("shade").value;
    paper.fillStyle = ink.free;
    paper.fillRect(x, y, wide, high);
    if (!cell.held) return;
    paper.fillStyle = shade === "team" ? `hsl(${hueOf(cell.held[0])} 60% ${this.dark ? 65 : 40}%)` : ink.held;
    if (shade !== "busy") return paper.fillRect(x, y, wide, high);
    if (cell.busy === undefined) return paper.fillRect(x, y, Math.max(1, wide / 4), high);
    paper.fillRect(x, y, wide, high);
    paper.fillStyle = ink.busy;  // from below, as high as its utilization
    paper.fillRect(x, y + high * (1 - cell.busy / 100), wide, high * (cell.busy / 100));
  }

  frame({ x, y }, colour) {
    this.paper.strokeStyle = colour;
    this.paper.lineWidth = FRAME;
    this.paper.strokeRect(x - 1, y - 1, this.width + 2, this.height + 2);
  }

  tileAt(event) {
    const x = event.offsetX, y = event.offsetY + this.from();
    return this.tiles.findIndex((tile) => x >= tile.x && x < tile.x + this.width && y >= tile.y && y < tile.y + this.height);
  }

  point(index) {
    const tile = this.tiles[index];
    if (!tile || (this.pointed === tile && this.focus === index)) return;
    if (this.tiles[this.focus]) this.drawSoon(this.tiles[this.focus]);
    this.drawSoon(tile);
    this.pointed = tile;
    this.focus = index;
    at("pointed").replaceChildren();
    const name = document.createElement("bdi");
    name.textContent = tile.name;
    at("pointed").append(name, ` · ${standingOf(tile.node)}`);
  }

  open(index) {
    if (this.tiles[index]) this.onOpen(this.tiles[index].name);
  }

  onKey(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.across, ArrowDown: this.across };
    if (event.key === "Enter" || event.key === " ") this.open(this.focus);
    else if (event.key === "Home") this.point(0);
    else if (event.key === "End") this.point(this.tiles.length - 1);
    else if (steps[event.key]) this.point(Math.min(Math.max(this.focus + steps[event.key], 0), this.tiles.length - 1));
    else return;
    event.preventDefault();
    const tile = this.tiles[this.focus];
    const top = tile ? this.box.getBoundingClientRect().top + tile.y : 0;
    if (tile && (top < 0 || top + this.height > innerHeight)) scrollBy(0, top - innerHeight / 2);
  }
}
