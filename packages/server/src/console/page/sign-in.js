import { ask, keepKey } from "./connection.js";

const form = document.getElementById("form");
const problem = document.getElementById("problem");
const code = new URLSearchParams(location.search).get("code") ?? "";
// Removes the one-time code from the address bar and the history.
history.replaceState(null, "", "/console/sign-in");
form.hidden = code === "";
document.getElementById("no-code").hidden = code !== "";
form.elements.name.focus();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void signIn();
});

async function signIn() {
  const button = form.querySelector("button");
  button.disabled = true;
  problem.hidden = true;
  try {
    const { key } = await ask("sign-in", { code, name: form.elements.name.value });
    keepKey(key);
    location.replace("/console");
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    button.disabled = false;
  }
}
