// Where the state comes from: out of this very file, or from the server that sent the page, which goes on to tell what
// changes.
import { at } from "./dom.js";
import { askForToken, heads } from "./login.js";

let isLive = false;  // else what is shown says it all
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Asks for as long as it takes: who is not known is asked for a token, and then the cluster is asked who that is.
async function ask(path, onTrouble) {
  for (;;) {
    try {
      const answer = await fetch(path, { headers: heads(), cache: "no-store" });
      if (answer.ok) return answer;
      const words = (await answer.text()).trim();
      onTrouble(words);
      if (answer.status === 401) {
        await askForToken(words);
        continue;
      }
    } catch {
      onTrouble("berth does not answer");
    }
    await later(1000);
  }
}

// Server-sent events, as their fields; an EventSource would send no token.
async function* eventsIn(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let text = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (text + value).split("\n\n");
      text = events.pop();
      for (const event of events)
        yield Object.fromEntries(event.split("\n").map((line) => /^(\w+): (.*)$/s.exec(line)?.slice(1) ?? ["", ""]));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Until the state is to be read anew: what changed since is not known any more.
async function tellChanges(id, onChange, onTrouble) {
  for (;;) {
    const { body } = await ask(`events?since=${encodeURIComponent(id)}`, onTrouble);
    onTrouble("");
    try {
      for await (const event of eventsIn(body)) {
        if (event.event === "again") return;
        if (event.data) onChange(JSON.parse(event.data));
        id = event.id ?? id;
      }
    } catch {
      // The connection broke off in the middle.
    }
    onTrouble("the connection is lost; trying again");
    await later(1000);
  }
}

// `onState` gets a whole document, `onChange` what is other since; `onTrouble` a sentence, empty: all is well again.
export async function listen(onState, onChange, onTrouble) {
  const carried = at("state");
  if (carried) return onState(JSON.parse(carried.textContent));
  for (;;) {
    const first = await (await ask("state", onTrouble)).json();
    onTrouble("");
    onState(first);
    if (!first.id || first.id === "still" || first.story) return;
    isLive = true;
    await tellChanges(first.id, onChange, onTrouble);
    await later(1000);  // another replica may have answered: they know the same, and not each other's states
  }
}

// As `berth why -o json` says it; null: nobody here can say.
export async function askWhy(subject) {
  if (!isLive) return null;
  for (let tries = 0; tries < 5; ++tries) {
    try {
      const answer = await fetch(`why?subject=${encodeURIComponent(subject)}`, { headers: heads(), cache: "no-store" });
      if (answer.ok) return await answer.json();
      if (answer.status !== 503) return null;  // 503: others are told something just now
    } catch {
      return null;
    }
    await later(1000);
  }
  return null;
}
