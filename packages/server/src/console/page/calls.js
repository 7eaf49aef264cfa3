import { element } from "./element.js";
import { clockTime, duration, shortSession, size } from "./format.js";
import { plainText, showText } from "./shown-text.js";

const MOST_LINES = 500;

/** Creates the live list of calls, newest first. */
export function createCalls({ list, empty, count, pause, sessionFilter, textFilter }) {
  /** Oldest first. */
  const lines = [];
  let newest = -1;
  let paused = false;
  /** Number of calls that arrived while the list was paused. */
  let held = 0;

  function matches({ session, text }) {
    const wanted = textFilter.value.trim().toLowerCase();
    return (sessionFilter.value === "" || session === sessionFilter.value) && (wanted === "" || text.includes(wanted));
  }

  function showAll() {
    const shown = lines.filter(matches).map(({ root }) => root);
    list.replaceChildren(...shown.reverse());
    held = 0;
    tell();
  }

  function tell() {
    count.textContent = String(lines.length);
    pause.textContent = paused ? `Resume (${held} new)` : "Pause";
    pause.setAttribute("aria-pressed", String(paused));
    empty.hidden = list.childElementCount > 0;
    empty.textContent =
      lines.length === 0 ? "No calls yet. Each call appears here as it ends." : "No call matches the filter.";
  }

  function add(call) {
    // After a reconnect the kernel sends the last calls again.
    if (call.index <= newest) return;
    newest = call.index;
    const line = createLine(call);
    lines.push(line);
    if (lines.length > MOST_LINES) {
      const oldest = lines.shift();
      if (!paused) oldest.root.remove();
    }
    offerSession(line);
    if (paused) held++;
    else if (matches(line)) list.prepend(line.root);
    tell();
  }

  function offerSession({ session, agent }) {
    if ([...sessionFilter.options].some((option) => option.value === session)) return;
    sessionFilter.append(element("option", { value: session }, `${agent} ${shortSession(session)}`.trim()));
    const known = new Set(lines.map((line) => line.session));
    for (const option of Array.from(sessionFilter.options)) {
      if (option.value !== "" && !option.selected && !known.has(option.value)) option.remove();
    }
  }

  pause.addEventListener("click", () => {
    paused = !paused;
    if (paused) tell();
    else showAll();
  });
  sessionFilter.addEventListener("change", showAll);
  textFilter.addEventListener("input", showAll);
  return { add };
}

function createLine(call) {
  const session = plainText(call.session);
  const { word, look } = verdictOf(call);
  const end = call.success ? [size(call.resultSize)] : showText(call.code);
  // The kernel's own stages are not rules that a user could look up.
  const rules = call.rules.filter((rule) => !plainText(rule).startsWith("kernel:"));
  const by = rules.flatMap((rule, at) => [at === 0 ? " by " : ", ", ...showText(rule)]);
  const person = plainText(call.approver) === "" ? [] : [", answered by ", ...showText(call.approver)];
  const root = element(
    "li",
    { class: `call ${look}`, "data-index": call.index },
    element(
      "div",
      { class: "call-what" },
      element("time", {}, clockTime(call.timeMs)),
      element("strong", { title: plainText(call.tool) }, ...showText(nameOf(call.tool))),
      element("span", { class: "outcome" }, ...end),
    ),
    plainText(call.subject) === "" ? "" : element("p", { class: "call-subject" }, ...showText(call.subject)),
    element(
      "div",
      { class: "call-why" },
      element("span", { class: "caller", title: session }, ...callerOf(call), shortSession(session)),
      element("span", { class: "by" }, element("b", { class: "verdict" }, word), ...by, ...person),
      element("span", { class: "took" }, duration(call.durationMs)),
    ),
  );
  const who = [call.agent, call.user];
  const texts = [session, ...who, call.tool, call.subject, call.code, call.approver, call.request, word, ...call.rules];
  return { root, session, agent: plainText(call.agent), text: texts.map(plainText).join(" ").toLowerCase() };
}

/** Shortens `file_read@1.0.0` to `file_read`; a text with marks in it stays as it is. */
function nameOf(tool) {
  return typeof tool === "string" ? tool.replace(/@[^@]*$/, "") : tool;
}

function callerOf({ agent, user }) {
  const names = [agent, user].filter((name) => plainText(name) !== "");
  return names
    .flatMap((name, at) => [...(at === 0 ? [] : [" for "]), ...showText(name)])
    .concat(names.length ? " " : []);
}

const NOT_DECIDED = { undecided: "refused before any rule", repeated: "answered from the record" };

function verdictOf({ decision, approver, success, code }) {
  const asked = plainText(approver) !== "";
  if (plainText(code) === "APPROVAL_PENDING") return { word: "waits for a person", look: "waits" };
  if (decision === "denied") return { word: asked ? "asked, denied" : "denied", look: "denied" };
  const word = decision === "allowed" ? (asked ? "asked, allowed" : "allowed") : (NOT_DECIDED[decision] ?? decision);
  return { word, look: success ? "ok" : "failed" };
}
