// Who looks, where the server asks: by a token of the cluster, which this window alone keeps, for as long as it is open.
import { at } from "./dom.js";

const KEY = "berth.token";

export function heads() {
  const token = sessionStorage.getItem(KEY);
  return token ? { authorization: `Bearer ${token}` } : {};
}

// Resolves when somebody has given one. `words` say why.
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
