const ANSWERS = new Map([
  ["o", "once"],
  ["s", "session"],
  ["r", "rule"],
  ["d", "deny"],
]);

/** Handles the keys of the whole page. A key that is held down counts once, and in a text field it is text. */
export function watchKeys({ approvals, help }) {
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || help.open) return;
    const answer = ANSWERS.get(event.key);
    if (event.key === "j") approvals.focus(1);
    else if (event.key === "k") approvals.focus(-1);
    else if (event.key === "?") help.showModal();
    else if (answer !== undefined) approvals.press(answer);
    else return;
    event.preventDefault();
  });
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}
