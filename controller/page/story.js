// A simulation: the state frame by frame, with a bar to move in it.
import { at, element, isolated } from "./dom.js";
import { applyChange, copyOf } from "./model.js";
import { timeOf } from "./times.js";

const STEP = 50;  // a copy of the state is kept every so many frames, to go back from

export class Story {
  constructor(begin, { title, frames }, onMoment) {
    Object.assign(this, { frames, onMoment, copies: [copyOf(begin)], place: 0 });
    at("story").hidden = false;
    at("story-title").textContent = title;
    at("story-moment").max = frames.length;
    at("story-moment").addEventListener("input", () => { this.pause(); this.show(Number(at("story-moment").value)); });
    at("story-play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    this.show(0);
  }

  // The state after so many frames.
  stateAt(place) {
    for (let i = this.copies.length; i * STEP <= place; ++i) {
      const next = copyOf(this.copies[i - 1]);
      this.frames.slice((i - 1) * STEP, i * STEP).forEach((frame) => applyChange(next, frame.change));
      this.copies.push(next);
    }
    const nearest = Math.floor(place / STEP);
    const state = copyOf(this.copies[nearest]);
    this.frames.slice(nearest * STEP, place).forEach((frame) => applyChange(state, frame.change));
    return state;
  }

  show(place) {
    this.place = place;
    const frame = this.frames[place - 1];
    const words = `${timeOf(frame?.at ?? 0)} · ${place} of ${this.frames.length}`;
    at("story-time").textContent = words;
    at("story-moment").value = place;
    at("story-moment").setAttribute("aria-valuetext", words);
    const recent = this.frames.slice(Math.max(0, place - 4), place).flatMap(({ at: when, lines }) =>
      lines.map(([subject, text]) => element("li", {}, `${timeOf(when)} `, isolated(subject), " ", isolated(text))));
    at("story-lines").replaceChildren(...recent.slice(-6));
    this.onMoment(this.stateAt(place), frame?.at ?? 0);
  }

  play() {
    if (this.place >= this.frames.length) this.show(0);
    at("story-play").textContent = "Pause";
    this.next();
  }

  // Waits as long as in the simulation, divided by the speed, but never so long that nothing seems to happen.
  next() {
    const now = this.frames[this.place - 1]?.at ?? 0, then = this.frames[this.place]?.at ?? now;
    const wait = Math.min(1500, Math.max(40, (then - now) / Number(at("story-speed").value)));
    this.timer = setTimeout(() => {
      this.show(this.place + 1);
      if (this.place < this.frames.length) this.next();
      else this.pause();
    }, wait);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    at("story-play").textContent = "Play";
  }
}
