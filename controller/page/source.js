// Where the state comes from: out of this very file, or from the server that sent the page, which goes on to tell what
// changes.
import { at } from "./dom.js";

let isLive = false;  // else what is shown says it all
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function fetchState(onTrouble) {
  for (;;) {
    try {
      const answer = await fetch("state");
      if (answer.ok) return await answer.json();
      onTrouble((await answer.text()).trim());
    } catch {
      onTrouble("berth does not answer");
    }
    await later(1000);
  }
}

// `onState` gets a whole document, `onChange` what is other since; `onTrouble` a sentence, empty: all is well again.
export async function listen(onState, onChange, onTrouble) {
  const carried = at("state");
  if (carried) return onState(JSON.parse(carried.textContent));
  const first = await fetchState(onTrouble);
  onTrouble("");
  onState(first);
  if (!first.id || first.id === "still" || first.story) return;
  isLive = true;
  const events = new EventSource(`events?since=${encodeURIComponent(first.id)}`);
  events.addEventListener("open", () => onTrouble(""));
  events.addEventListener("error", () => onTrouble("the connection is lost; trying again"));
  events.addEventListener("message", (event) => onChange(JSON.parse(event.data)));
  events.addEventListener("again", async () => onState(await fetchState(onTrouble)));
}

// As `berth why -o json` says it; null: nobody here can say.
export async function askWhy(subject) {
  if (!isLive) return null;
  try {
    const answer = await fetch(`why?subject=${encodeURIComponent(subject)}`);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}
