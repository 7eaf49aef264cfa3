import { ask, leave } from "./connection.js";
import { element } from "./element.js";
import { dayAndTime, shortSession } from "./format.js";
import { plainText, showText } from "./shown-text.js";

/** Creates the list of standing approvals. */
export function createStanding({ list, empty, count }) {
  return {
    show(standing) {
      list.replaceChildren(...standing.map(showOne));
      empty.hidden = standing.length > 0;
      count.textContent = String(standing.length);
    },
  };
}

function showOne({ id, scope, session, tool, allows, door, approver, givenAtMs }) {
  const where = scope === "rule" ? "every session" : `session ${shortSession(plainText(session))}`;
  const told = element("span", { class: "told", role: "status" });
  const revoke = element("button", { type: "button", class: "danger" }, "Revoke");
  revoke.addEventListener("click", async () => {
    revoke.disabled = true;
    try {
      await ask("revoke", { id });
    } catch (error) {
      if (error.status === 401) leave();
      told.textContent = error.message;
      revoke.disabled = false;
    }
  });
  return element(
    "li",
    { "data-standing": id },
    element(
      "div",
      {},
      element("p", {}, element("strong", {}, ...showText(tool)), element("span", { class: "dim" }, ` in ${where}`)),
      element("pre", { class: "value text", tabindex: "0" }, ...showText(allows)),
      element(
        "p",
        { class: "dim" },
        "by ",
        ...showText(approver),
        " (",
        ...showText(door),
        `), ${dayAndTime(givenAtMs)}`,
      ),
      told,
    ),
    revoke,
  );
}
