// The viewer's identity, if the server requires it: a token of the cluster, kept only in this window until it closes.
import { at } from "./dom.js";

const KEY = "berth.token";

export function heads() {
  const token = sessionStorage.getItem(KEY);
  return token ? { authorization: `Bearer ${token}` } : {};
}

// Resolves when the user has entered a token. `words` say why it is needed.
export function askForToken(words) {
  sessionStorage.removeItem(KEY);
  at("login").hidden = false;
  at("login-why").textContent = words;
  at("login-token").focus();
  return new Promise((resolve) => {
    at("login-form").onsubmit = (event) => {
      event.preventDefault();
      const token = at("login-token").value.trim();
      if (!token) return;
      sessionStorage.setItem(KEY, token);
      at("login-token").value = "";
      at("login").hidden = true;
      resolve();
    };
  });
}
