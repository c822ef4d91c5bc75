// The source of the state: this file itself, or the server of the page, which then sends changes.
import { at } from "./dom.js";
import { askForToken, heads } from "./login.js";

let isLive = false;  // false: the loaded state is complete
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Repeats the request until it succeeds. If the server does not know the viewer, the page requests a token.
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

// Parses server-sent events into their fields; EventSource can't send a token.
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

// Returns when the page must load the whole state, because the server no longer has the changes since then.
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
      // The connection broke.
    }
    onTrouble("the connection is lost; trying again");
    await later(1000);
  }
}

// `onState` gets a whole document, `onChange` a change since; `onTrouble` gets a message, empty: no trouble any more.
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
    await later(1000);  // another replica may have answered, which does not know this state id
  }
}

// The result of `berth why -o json`; null: no server can answer.
export async function askWhy(subject) {
  if (!isLive) return null;
  for (let tries = 0; tries < 5; ++tries) {
    try {
      const answer = await fetch(`why?subject=${encodeURIComponent(subject)}`, { headers: heads(), cache: "no-store" });
      if (answer.ok) return await answer.json();
      if (answer.status !== 503) return null;  // 503: the server is busy with other viewers
    } catch {
      return null;
    }
    await later(1000);
  }
  return null;
}
